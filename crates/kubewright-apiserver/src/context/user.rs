//! Somebody who asks.

use std::collections::BTreeMap;

use crate::value::{Value, json};

/// Somebody who asks, as authentication has found out.
///
/// Source: apiserver `authentication/user.DefaultInfo`, `authentication.k8s.io/v1` `UserInfo`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct UserInfo {
    /// The name, such as `system:serviceaccount:default:builder`.
    pub name: String,
    /// What tells two users of one name apart; may be empty.
    pub uid: String,
    /// The groups that the user is in.
    pub groups: Vec<String>,
    /// What else the authenticator knows.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl UserInfo {
    /// A user of a name, in some groups.
    pub fn new<G: Into<String>>(name: impl Into<String>, groups: impl IntoIterator<Item = G>) -> Self {
        let groups = groups.into_iter().map(Into::into).collect();
        Self { name: name.into(), groups, ..Self::default() }
    }

    /// Whether the user is in a group.
    pub fn is_in(&self, group: &str) -> bool {
        self.groups.iter().any(|known| known == group)
    }

    /// Whoever holds the credentials that a door was opened with.
    pub(crate) fn admin() -> Self {
        Self::new("admin", ["system:masters", "system:authenticated"])
    }

    /// Nobody has said who asks.
    ///
    /// Source: apiserver `authentication/user.Anonymous`.
    pub(crate) fn anonymous() -> Self {
        Self::new("system:anonymous", ["system:unauthenticated"])
    }

    /// As `userInfo` in reviews. What is empty is left out.
    pub(crate) fn to_value(&self) -> Value {
        let mut value = json!({"username": self.name, "groups": self.groups});
        if !self.uid.is_empty() {
            value["uid"] = self.uid.as_str().into();
        }
        if !self.extra.is_empty() {
            value["extra"] = json!(self.extra);
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reviews_say_what_is_known_of_a_user() {
        let mut user = UserInfo::new("a", ["g"]);
        assert_eq!(user.to_value(), json!({"username": "a", "groups": ["g"]}));
        user.uid = "u".into();
        user.extra.insert("scopes".into(), vec!["s".into()]);
        assert_eq!(
            user.to_value(),
            json!({"username": "a", "groups": ["g"], "uid": "u", "extra": {"scopes": ["s"]}})
        );
        assert!(user.is_in("g") && !user.is_in("h"));
    }
}
