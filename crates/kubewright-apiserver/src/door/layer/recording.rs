//! Taking note of what is asked.

use std::sync::Arc;

use super::{
    asked::Asked,
    filter::{Answer, Filter, Next},
};
use crate::auth::Recordings;

/// Tells the recordings of the server about every request.
#[derive(Debug, Clone)]
pub(in crate::door) struct Recording(pub(in crate::door) Arc<Recordings>);

impl<S: Next<Asked>> Filter<Asked, S> for Recording {
    async fn pass(self, asked: Asked, mut next: S) -> Answer {
        self.0.note(&asked.context.user, &asked.context.info);
        next.call(asked).await
    }
}
