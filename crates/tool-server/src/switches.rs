//! What the environment says: five switches for what may be done outside the roots, and where state is
//! kept.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use fs_sandbox::Rights;

/// The switches, with what each allows.
const SWITCHES: [(&str, Rights); 5] = [
    ("VOTX_FILE_OUTSIDE_SANDBOX", Rights::ALL),
    ("VOTX_FILE_READ_OUTSIDE_SANDBOX", Rights::READ),
    ("VOTX_FILE_EDIT_OUTSIDE_SANDBOX", Rights::EDIT),
    ("VOTX_FILE_WRITE_OUTSIDE_SANDBOX", Rights::EDIT),
    ("VOTX_FILE_DELETE_OUTSIDE_SANDBOX", Rights::DELETE),
];

/// The rights outside the roots, and which switches gave them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Outside {
    pub(crate) rights: Rights,
    pub(crate) switches: Vec<&'static str>,
}

impl Outside {
    /// Returns what the environment says now; whoever starts the server asks once.
    pub(crate) fn of_environment() -> Self {
        Self::of(variable)
    }

    fn of(value: impl Fn(&str) -> Option<OsString>) -> Self {
        let mut outside = Self::default();
        for (name, rights) in SWITCHES {
            if value(name).is_some_and(|value| is_on(&value)) {
                outside.rights = outside.rights | rights;
                outside.switches.push(name);
            }
        }
        outside
    }
}

/// Returns the directory for state that users have by the XDG Base Directory Specification; `None`
/// where nobody says where their home is.
pub(crate) fn state_directory() -> Option<PathBuf> {
    state_directory_of(variable)
}

fn state_directory_of(value: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name| {
        value(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let home = || absolute("HOME").map(|home| home.join(".local/state"));
    let state = absolute("XDG_STATE_HOME").or_else(home)?;
    Some(state.join(Path::new("postern")))
}

#[expect(
    clippy::disallowed_methods,
    reason = "the operator's switches, read once at the start"
)]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

fn is_on(value: &OsStr) -> bool {
    let value = value.to_string_lossy();
    let words = ["1", "true", "yes", "on"];
    words
        .iter()
        .any(|word| value.trim().eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(set: &[(&str, &str)], rights: Rights, switches: &[&str]) {
        let value = |name: &str| {
            let found = set.iter().find(|(given, _)| *given == name);
            found.map(|(_, value)| OsString::from(value))
        };
        let outside = Outside::of(value);
        assert_eq!((outside.rights, &*outside.switches), (rights, switches));
    }

    #[test]
    fn state_lies_where_the_user_says() {
        let check = |set: &[(&str, &str)], path: Option<&str>| {
            let value = |name: &str| {
                let found = set.iter().find(|(given, _)| *given == name);
                found.map(|(_, value)| OsString::from(value))
            };
            assert_eq!(state_directory_of(value), path.map(PathBuf::from));
        };
        check(&[], None);
        check(&[("HOME", "relative")], None);
        check(
            &[("HOME", "/home/me")],
            Some("/home/me/.local/state/postern"),
        );
        let both = [("HOME", "/home/me"), ("XDG_STATE_HOME", "/state")];
        check(&both, Some("/state/postern"));
        check(
            &[("XDG_STATE_HOME", ""), both[0]],
            Some("/home/me/.local/state/postern"),
        );
    }

    #[test]
    fn each_switch_gives_its_rights_and_no_others() {
        check(&[], Rights::NONE, &[]);
        for (name, rights) in SWITCHES {
            check(&[(name, "1")], rights, &[name]);
        }
    }

    #[test]
    fn switches_add_up() {
        for (one, of_one) in SWITCHES {
            for (two, of_two) in SWITCHES {
                if one < two {
                    let both = [(one, "1"), (two, "on")];
                    let on = SWITCHES.map(|(name, _)| name).into_iter();
                    let on: Vec<_> = on.filter(|name| *name == one || *name == two).collect();
                    check(&both, of_one | of_two, &on);
                }
            }
        }
        let all = SWITCHES.map(|(name, _)| name);
        check(&all.map(|name| (name, "yes")), Rights::ALL, &all);
    }

    #[test]
    fn only_four_words_are_on() {
        let name = "VOTX_FILE_READ_OUTSIDE_SANDBOX";
        for value in ["1", "true", "yes", "on", " TRUE\t", "On", "yEs\n"] {
            check(&[(name, value)], Rights::READ, &[name]);
        }
        for value in [
            "",
            "0",
            "false",
            "no",
            "off",
            "2",
            "y",
            "enabled",
            "1 1",
            "tru\u{0435}",
        ] {
            check(&[(name, value)], Rights::NONE, &[]);
        }
    }
}
