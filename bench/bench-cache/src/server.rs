//! The server that all clients read: the embedded API server, filled through its own door.

use anyhow::{Context, Result, ensure};
use http::{Request, header};
use http_body_util::BodyExt;
use kube::client::Body;
use kubewright_apiserver::{ApiServer, ListenOptions, Transport};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;

use crate::{door::Address, pods::Pods};

/// Holds the pods behind both TCP doors until the input ends.
pub(crate) async fn run(pods: Pods) -> Result<()> {
    let server = filled(pods).await?;
    let tls = server.listen(ListenOptions::default()).await?;
    let mut options = ListenOptions::default();
    options.transport = Transport::Plain;
    let plain = server.listen(options).await?;
    let address = Address { tls: tls.kubeconfig(), plain: plain.kubeconfig() };
    println!("{}", serde_json::to_string(&address)?);
    tokio::io::stdin().read_to_end(&mut Vec::new()).await?;
    tls.shutdown().await;
    plain.shutdown().await;
    Ok(())
}

/// A server that has the pods.
pub(crate) async fn filled(pods: Pods) -> Result<ApiServer> {
    let server = ApiServer::builder().build();
    let client = client(&server);
    for name in pods.namespace_names() {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        send(&client, "POST", "/api/v1/namespaces", &namespace).await?;
    }
    for mut pod in pods.iter() {
        let metadata = &pod["metadata"];
        let path = format!("/api/v1/namespaces/{}/pods", metadata["namespace"].as_str().unwrap_or_default());
        let own_path = format!("{path}/{}", metadata["name"].as_str().unwrap_or_default());
        send(&client, "POST", &path, &pod).await?;
        // A new pod has no status: that comes in a write of its own. The server has chosen another uid.
        pod["metadata"]["uid"] = Value::Null;
        send(&client, "PUT", &format!("{own_path}/status"), &pod).await?;
    }
    Ok(server)
}

/// A client of the server in its own process.
pub(crate) fn client(server: &ApiServer) -> kube::Client {
    kube::Client::new(server.service(), "default")
}

async fn send(client: &kube::Client, method: &str, path: &str, object: &Value) -> Result<()> {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(object.to_string().into_bytes()))?;
    let answer = client.send(request).await.with_context(|| format!("failed to send {method} {path}"))?;
    let status = answer.status();
    let body = answer.into_body().collect().await?.to_bytes();
    ensure!(status.is_success(), "{method} {path} was answered {status}: {}", String::from_utf8_lossy(&body));
    Ok(())
}
