//! Conditions of a status: one for each `type`, with the time of its last transition.
//!
//! # Example: a status says whether it is ready
//! ```
//! use k8s_openapi::{
//!     apimachinery::pkg::apis::meta::v1::{Condition, Time},
//!     jiff::Timestamp,
//! };
//! use kubewright::controllerutil::conditions;
//!
//! let ready = |status: &str, at: i64| Condition {
//!     type_: "Ready".into(),
//!     status: status.into(),
//!     reason: "Observed".into(),
//!     message: String::new(),
//!     observed_generation: None,
//!     last_transition_time: Time(Timestamp::from_second(at).unwrap()),
//! };
//! let mut all = Vec::new();
//! assert!(conditions::set(&mut all, ready("False", 1)));
//! assert!(!conditions::set(&mut all, ready("False", 2)), "nothing has changed, so the first time stays");
//! assert!(conditions::set(&mut all, ready("True", 3)));
//! assert!(conditions::is_true(&all, "Ready"));
//! assert_eq!(conditions::find(&all, "Ready").unwrap().last_transition_time.0.as_second(), 3);
//! ```

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

/// Sets the condition of `condition`'s type; whether that changed anything.
///
/// `condition.last_transition_time` is the present time: it is taken if the condition is new or its `status` changes, else the time of the last transition stays.
/// So a condition that says the same at every run makes no write.
///
/// Source: apimachinery `meta.SetStatusCondition`.
///
/// # Differences from Go
/// The caller gives the time. Upstream reads the clock if there is none.
pub fn set(conditions: &mut Vec<Condition>, mut condition: Condition) -> bool {
    let Some(known) = conditions.iter_mut().find(|known| known.type_ == condition.type_) else {
        conditions.push(condition);
        return true;
    };
    if known.status == condition.status {
        condition.last_transition_time = known.last_transition_time.clone();
    }
    let changed = *known != condition;
    *known = condition;
    changed
}

/// The condition of this type.
///
/// Source: apimachinery `meta.FindStatusCondition`.
pub fn find<'a>(conditions: &'a [Condition], type_: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.type_ == type_)
}

/// Whether the condition of this type is there and `True`.
///
/// Source: apimachinery `meta.IsStatusConditionTrue`.
pub fn is_true(conditions: &[Condition], type_: &str) -> bool {
    find(conditions, type_).is_some_and(|condition| condition.status == "True")
}

/// Takes the condition of this type away; whether there was one.
///
/// Source: apimachinery `meta.RemoveStatusCondition`.
pub fn remove(conditions: &mut Vec<Condition>, type_: &str) -> bool {
    let before = conditions.len();
    conditions.retain(|condition| condition.type_ != type_);
    conditions.len() != before
}

#[cfg(test)]
mod tests {
    use k8s_openapi::{apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp};

    use super::*;

    fn condition(type_: &str, status: &str, message: &str, at: i64) -> Condition {
        Condition {
            type_: type_.into(),
            status: status.into(),
            reason: "Reason".into(),
            message: message.into(),
            observed_generation: None,
            last_transition_time: Time(Timestamp::from_second(at).unwrap()),
        }
    }

    #[track_caller]
    fn check(all: &mut Vec<Condition>, (status, message, at): (&str, &str, i64), changed: bool, since: i64) {
        assert_eq!(set(all, condition("Ready", status, message, at)), changed);
        let stored = find(all, "Ready").unwrap();
        assert_eq!((&*stored.status, &*stored.message), (status, message));
        assert_eq!(stored.last_transition_time.0.as_second(), since);
    }

    #[test]
    fn the_time_of_a_transition_is_kept_until_the_next_one() {
        let mut all = vec![condition("Other", "True", "", 1)];
        check(&mut all, ("False", "a", 2), true, 2);
        check(&mut all, ("False", "a", 3), false, 2);
        check(&mut all, ("False", "b", 4), true, 2);
        check(&mut all, ("True", "b", 5), true, 5);
        assert_eq!(all.len(), 2);
        assert!(is_true(&all, "Ready") && !is_true(&all, "Absent"));
        assert!(remove(&mut all, "Ready") && !remove(&mut all, "Ready"));
        assert_eq!(find(&all, "Ready"), None);
    }
}
