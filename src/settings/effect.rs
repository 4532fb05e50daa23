//! When a change counts, in words.

use crate::catalog::{Apply, Setting};

/// When a change of the setting counts: "with the next message".
pub fn takes_effect(setting: &Setting) -> String {
    if setting.dead {
        return "never: this version of Hermes does not read it".to_owned();
    }
    let root = setting.path.split(['.', '[']).next().unwrap_or_default();
    match (root, setting.apply) {
        // Read by several parts of Hermes at different times.
        ("mcp_servers", None) => {
            "within 5 s in the command line, after /reload-mcp in the gateway".to_owned()
        }
        (_, Some(Apply::Live)) => "at once: it is read at each use".to_owned(),
        (_, Some(Apply::NextTurn)) => "with the next message".to_owned(),
        (_, Some(Apply::NewSession)) => "in new sessions".to_owned(),
        (_, Some(Apply::CliRestart)) => "after a restart of the command line".to_owned(),
        (_, Some(Apply::ProcessRestart)) => {
            "after a restart of the gateway and the command line".to_owned()
        }
        (_, None) => "after a restart, to be sure".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::catalog;
    use crate::document::KeyPath;

    #[test]
    fn every_setting_says_when_it_counts() {
        let says = |keys: &[&str]| takes_effect(catalog().setting(&KeyPath::of(keys)).unwrap());
        assert_eq!(says(&["model", "default"]), "with the next message");
        assert_eq!(
            says(&["approvals", "mode"]),
            "at once: it is read at each use"
        );
        assert!(says(&["terminal", "backend"]).contains("gateway"));
        assert!(says(&["mcp_servers", "x", "url"]).contains("/reload-mcp"));
        assert!(says(&["display", "show_cost"]).starts_with("never"));
    }
}
