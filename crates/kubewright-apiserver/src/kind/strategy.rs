//! In which ways a resource differs from others.

use std::{fmt, time::Duration};

use jiff::Timestamp;

use super::{
    reservation::Reservation,
    row::Kind,
    rules::{Part, Rules},
};
use crate::{
    error::{FieldError, Status},
    fields,
    object::Object,
    value::Value,
};

/// In which ways the objects of a resource differ from those of others. What most have in common is the default.
///
/// A strategy is a value: it may own what it takes to judge an object, such as a schema, or what it hands out. The
/// registry calls the methods in the order in which they stand here.
///
/// Source: apiserver `rest.RESTCreateStrategy`, `RESTUpdateStrategy`, `RESTDeleteStrategy`, and the hooks of
/// `registry.Store`.
pub(crate) trait Strategy: fmt::Debug + Send + Sync {
    /// What it has chosen where there is no more than a choice.
    fn rules(&self) -> &Rules;

    /// Whether its objects are those in whose names the paths of others are.
    fn is_of_namespaces(&self) -> bool {
        false
    }

    /// Drops what the kind does not know from an object that a client or a webhook has sent, and says where it was.
    ///
    /// # Errors
    /// A value that does not fit its field, or an object inside of it that cannot be one, as a sentence.
    fn coerce(&self, object: &mut Object) -> Result<Vec<String>, String> {
        fields::coerce(object)
    }

    /// Fills in what the client has left out. Runs on every write, before webhooks and after them.
    fn set_defaults(&self, object: &mut Object) {
        (self.rules().default)(object);
        fields::complete(object);
    }

    /// Sets what only the server may set at birth, such as `status.phase`.
    fn prepare_for_create(&self, object: &mut Object) {
        (self.rules().prepare_for_create)(object);
    }

    /// Takes over from the old object what the client may leave out or must not change, such as a Service's address.
    fn prepare_for_update(&self, new: &mut Object, old: &Object, _: Part) {
        (self.rules().prepare_for_update)(new, old);
    }

    /// Notes who has made an object, and when something in it has changed.
    fn stamp(&self, _new: &mut Object, _old: Option<&Object>, _now: Timestamp, _user: &dyn Fn() -> Value) {}

    /// Checks a new object, with the one it replaces if there is one.
    fn validate(&self, new: &Object, old: Option<&Object>, _: Part) -> Vec<FieldError> {
        (self.rules().validate)(new, old)
    }

    /// What the client should be told of an object, though it is no reason to refuse it.
    fn warnings(&self, _new: &Object, _old: Option<&Object>) -> Vec<String> {
        Vec::new()
    }

    /// Gives an object that is about to be written what the server hands out.
    ///
    /// # Errors
    /// 422 if it asks for what somebody else has.
    fn reserve(&self, _: &Kind, _old: Option<&Object>, _new: &mut Object) -> Result<Reservation, Status> {
        Ok(Reservation::nothing())
    }

    /// Drops what the version in which objects are kept does not know.
    fn prepare_for_storage(&self, _: &mut Object) {}

    /// Whether an object that was stored at `revision` is as it would be stored today. Others are coerced, and get the
    /// defaults of today, when they are read.
    fn is_up_to_date(&self, _revision: u64) -> bool {
        true
    }

    /// Takes back what an object has that is gone.
    fn release(&self, _: &Object) {}

    /// Why the object of this name may not be deleted; `None` if it may.
    fn refuses_deletion(&self, _name: &str) -> Option<&'static str> {
        None
    }

    /// How many seconds an object gets to stop if the client asks for `asked`; `None` if time is not what ends it.
    fn grace_period(&self, _object: &Object, _asked: Option<i64>) -> Option<i64> {
        Some(0)
    }

    /// Says in an object that it is to go. `old` is what it was before.
    fn prepare_for_delete(&self, _new: &mut Object, _old: &Object, _now: Timestamp) {}

    /// Whether something besides finalizers and time keeps an object that is to go.
    fn is_held(&self, _: &Object) -> bool {
        false
    }

    /// How long an object is kept after it was last written; `None`: until it is deleted.
    fn time_to_live(&self) -> Option<Duration> {
        None
    }

    /// What a write means for the server itself.
    fn consequence(&self) -> Consequence {
        Consequence::None
    }
}

/// What the server has to do once an object was written or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consequence {
    None,
    /// No cluster is without some of these: what is missing is made again.
    Restore,
    /// Kinds may come, change or go.
    Settle,
    /// A definition may have waited for the last one to go.
    Outlived,
}

/// A resource that differs in its rules alone.
impl Strategy for Rules {
    fn rules(&self) -> &Rules {
        self
    }
}
