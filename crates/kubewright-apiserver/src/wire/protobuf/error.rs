//! Why a body in protobuf could not be read, in upstream's words.

use thiserror::Error;

/// What is wrong with the bytes. All of it is for the client to mend.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum ProtobufError {
    #[error("empty data")]
    Empty,
    #[error("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")]
    NoPrefix,
    #[error("empty body")]
    OnlyPrefix,
    #[error("unexpected EOF")]
    UnexpectedEof,
    #[error("proto: integer overflow")]
    IntegerOverflow,
    #[error("proto: negative length found during unmarshaling")]
    NegativeLength,
    #[error("proto: unexpected end of group")]
    UnexpectedEndOfGroup,
    #[error("proto: {message}: wiretype end group for non-group")]
    EndOfGroup { message: String },
    #[error("proto: {message}: illegal tag {number} (wire type {wire})")]
    IllegalTag { message: String, number: i32, wire: u64 },
    #[error("proto: wrong wireType = {found} for field {field}")]
    WrongWireType { found: u8, field: String },
    #[error("proto: illegal wireType {0}")]
    IllegalWireType(u8),
    /// A value that JSON has no words for.
    #[error("{0}")]
    NoJson(String),
    /// Messages inside messages.
    #[error("{}", crate::value::TOO_DEEP)]
    TooDeep,
    /// As JSON the body would be larger than a body may be.
    #[error("the object is too large: as JSON it exceeds {} bytes", crate::wire::MAX_BODY_BYTES)]
    TooLarge,
    /// Nobody has written down the fields of this kind.
    #[error(
        "no kind \"{kind}\" is registered for version \"{api_version}\" in scheme \"pkg/runtime/scheme.go:111\""
    )]
    UnknownKind { api_version: String, kind: String },
}
