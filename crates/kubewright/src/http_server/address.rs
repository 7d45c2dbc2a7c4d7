//! Where a server listens, in the words of Go's flags.

use std::{fmt, io, net::SocketAddr, str::FromStr};

use thiserror::Error;
use tokio::net::{TcpListener, TcpSocket};

/// Where a server listens; or that it does not.
///
/// Written as Go's flags are: `:8080` is that port of all addresses, IPv6 and IPv4; `127.0.0.1:8080`, `[::1]:8080` and `localhost:8080` name one; port 0 is any
/// free port, and the server can be asked which one it took; `0` and the empty text turn it off.
///
/// # Example: flags
/// ```
/// use kubewright::http_server::BindAddress;
///
/// let address: BindAddress = ":8081".parse()?;
/// assert_eq!(address.to_string(), ":8081");
/// assert!("0".parse::<BindAddress>()?.is_off());
/// assert_eq!(BindAddress::default(), BindAddress::OFF);
/// # Ok::<(), kubewright::http_server::BindAddressError>(())
/// ```
///
/// Source: controller-runtime `Options.HealthProbeBindAddress`, `metrics/server.Options.BindAddress`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BindAddress(Option<HostPort>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct HostPort {
    /// `None`: all addresses.
    host: Option<String>,
    port: u16,
}

/// A text that names no address.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0:?} is no address to listen on: expected host:port, :port or 0")]
pub struct BindAddressError(String);

impl BindAddress {
    /// The server does not listen.
    pub const OFF: Self = Self(None);

    /// This port of all addresses of the machine.
    pub fn port(port: u16) -> Self {
        Self(Some(HostPort { host: None, port }))
    }

    /// Whether the server does not listen.
    pub fn is_off(&self) -> bool {
        self.0.is_none()
    }

    /// Takes the address. `None` if it is [`OFF`](Self::OFF).
    pub(crate) async fn bind(&self) -> io::Result<Option<TcpListener>> {
        let Some(HostPort { host, port }) = &self.0 else { return Ok(None) };
        match host {
            Some(host) => TcpListener::bind((host.as_str(), *port)).await.map(Some),
            None => bind_all(*port).map(Some),
        }
    }
}

/// An IPv6 socket takes IPv4 connections too, unless the machine has been told otherwise; one without IPv6 has only the other kind. Go does the same.
fn bind_all(port: u16) -> io::Result<TcpListener> {
    dual_stack(port).or_else(|_| {
        let socket = TcpSocket::new_v4()?;
        listen(socket, SocketAddr::from(([0, 0, 0, 0], port)))
    })
}

fn dual_stack(port: u16) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v6()?;
    socket2::SockRef::from(&socket).set_only_v6(false)?;
    listen(socket, SocketAddr::from(([0; 8], port)))
}

fn listen(socket: TcpSocket, address: SocketAddr) -> io::Result<TcpListener> {
    // A restarted operator gets its port back while connections of the earlier one linger. On Windows the option means to steal a port that is in use.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

impl From<SocketAddr> for BindAddress {
    fn from(address: SocketAddr) -> Self {
        Self(Some(HostPort { host: Some(address.ip().to_string()), port: address.port() }))
    }
}

impl FromStr for BindAddress {
    type Err = BindAddressError;

    fn from_str(text: &str) -> Result<Self, BindAddressError> {
        if matches!(text, "" | "0") {
            return Ok(Self::OFF);
        }
        let wrong = || BindAddressError(text.to_owned());
        let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        let port = port.parse().map_err(|_| wrong())?;
        let host = match host.strip_prefix('[').map(|host| host.strip_suffix(']')) {
            Some(address) => address.ok_or_else(wrong)?,
            // Without brackets nobody knows where an IPv6 address ends.
            None if host.contains(':') => return Err(wrong()),
            None => host,
        };
        Ok(Self(Some(HostPort { host: (!host.is_empty()).then(|| host.to_owned()), port })))
    }
}

impl fmt::Display for BindAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => f.write_str("0"),
            Some(HostPort { host: None, port }) => write!(f, ":{port}"),
            Some(HostPort { host: Some(host), port }) if host.contains(':') => write!(f, "[{host}]:{port}"),
            Some(HostPort { host: Some(host), port }) => write!(f, "{host}:{port}"),
        }
    }
}

/// As many connections wait to be accepted; tokio's own default.
const BACKLOG: u32 = 1024;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_go_reads_them_and_written_back() {
        for (text, written) in [
            (":8080", Some(":8080")),
            ("127.0.0.1:8080", Some("127.0.0.1:8080")),
            ("[::1]:0", Some("[::1]:0")),
            ("localhost:9443", Some("localhost:9443")),
            ("0", Some("0")),
            ("", Some("0")),
            ("8080", None),
            ("::1:8080", None),
            ("[::1:8080", None),
            (":http", None),
            (":65536", None),
        ] {
            let read = text.parse::<BindAddress>();
            assert_eq!(read.ok().map(|address| address.to_string()).as_deref(), written, "{text:?}");
        }
    }

    #[tokio::test]
    async fn a_port_of_all_addresses_takes_ipv4_and_ipv6() {
        let listener = BindAddress::port(0).bind().await.unwrap().unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        if listener.local_addr().unwrap().is_ipv6() {
            tokio::net::TcpStream::connect(("::1", port)).await.unwrap();
        }
    }

    #[tokio::test]
    async fn an_address_that_is_taken_is_an_error_and_off_is_none() {
        let taken = BindAddress::from(SocketAddr::from(([127, 0, 0, 1], 0))).bind().await.unwrap().unwrap();
        let again = BindAddress::from(taken.local_addr().unwrap()).bind().await.unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AddrInUse);
        assert!(BindAddress::OFF.bind().await.unwrap().is_none());
    }
}
