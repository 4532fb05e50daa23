//! What the two-pane tabs list: groups on the left, rows on the right, or one searched list.
//!
//! Responsible for: which rows stand where, and the search. Not responsible for drawing.

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::action::Tab;
use super::model::{Model, Target};
use crate::catalog::Severity;
use crate::settings::{KeyRow, KeyState};

/// One group of the left pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Rows in it.
    pub count: usize,
    /// Rows with unsaved changes.
    pub unsaved: usize,
    /// Rows with a problem.
    pub bad: usize,
}

/// What a two-pane tab lists at the moment.
#[derive(Debug, Clone, Default)]
pub struct Browse {
    /// Left pane; empty while searching.
    pub groups: Vec<Group>,
    /// Right pane: indices into the tab's rows.
    pub rows: Vec<usize>,
    /// All rows of the tab.
    pub total: usize,
    /// A search decides what is shown.
    pub searching: bool,
}

impl KeyRow {
    /// Whether the row deserves the sign for a problem.
    pub fn has_trouble(&self) -> bool {
        self.duplicates > 0
            || self.readers_differ.is_some()
            || self.state == KeyState::Placeholder
            || self
                .fault
                .as_ref()
                .is_some_and(|f| f.severity != Severity::Info)
    }
}

/// Name of the group with what the user has set.
const SET: &str = "set by you";

/// Something that can be searched: its name, and what else is known of it.
#[derive(Debug, Clone, Default)]
pub struct Searched {
    /// What it is called.
    pub name: String,
    /// Help text; a match there counts less.
    pub more: String,
}

/// Order by how well the query matches; indices of what matches at all. First what is called so,
/// then what has every word in its name, then in its help; only when there is none of these, what
/// has the letters in order.
pub fn matches(query: &str, items: &[Searched]) -> Vec<usize> {
    let query = query.trim().to_lowercase();
    if query.is_empty() {
        return (0..items.len()).collect();
    }
    let words: Vec<&str> = query.split_whitespace().collect();
    let mut ranked: Vec<(u8, usize)> = items
        .iter()
        .enumerate()
        .filter_map(|(i, item)| {
            let name = item.name.to_lowercase();
            let more = item.more.to_lowercase();
            let leaf = name.rsplit(['.', '/']).next().unwrap_or(&name);
            let rank = if name == query || leaf == query {
                0
            } else if words.iter().all(|w| name.contains(w)) {
                1
            } else if words.iter().all(|w| name.contains(w) || more.contains(w)) {
                2
            } else {
                return None;
            };
            Some((rank, i))
        })
        .collect();
    if ranked.is_empty() {
        return scattered(&query, items);
    }
    ranked.sort_unstable();
    ranked.into_iter().map(|(_, i)| i).collect()
}

/// Names that have the letters of the query in order, the best first.
fn scattered(query: &str, items: &[Searched]) -> Vec<usize> {
    let mut matcher = Matcher::new(Config::DEFAULT);
    let pattern = Pattern::new(
        query,
        CaseMatching::Ignore,
        Normalization::Smart,
        AtomKind::Fuzzy,
    );
    let mut buffer = Vec::new();
    let mut scored: Vec<(std::cmp::Reverse<u32>, usize)> = items
        .iter()
        .enumerate()
        .filter_map(|(i, item)| {
            let score = pattern.score(Utf32Str::new(&item.name, &mut buffer), &mut matcher)?;
            Some((std::cmp::Reverse(score), i))
        })
        .collect();
    scored.sort_unstable();
    scored.into_iter().map(|(_, i)| i).collect()
}

/// What the shown tab lists.
pub fn browse(model: &Model) -> Browse {
    browse_tab(model, model.tab)
}

fn browse_tab(model: &Model, tab: Tab) -> Browse {
    let state = &model.tabs[tab.index()];
    let items: Vec<(String, Target, bool, Searched)> = match tab {
        Tab::Settings => model
            .derived
            .rows
            .iter()
            .map(|r| {
                let text = Searched {
                    name: r.path.to_string(),
                    more: r.setting.map(|s| s.help.clone()).unwrap_or_default(),
                };
                (
                    r.section.clone(),
                    Target::Config(r.path.clone()),
                    r.fault.is_some(),
                    text,
                )
            })
            .collect(),
        Tab::Keys => model
            .derived
            .keys
            .iter()
            .map(|k| {
                let text = Searched {
                    name: k.name.clone(),
                    more: k.info.map(|i| i.help.clone()).unwrap_or_default(),
                };
                (
                    k.category.label().to_owned(),
                    Target::Env(k.name.clone()),
                    k.has_trouble(),
                    text,
                )
            })
            .collect(),
        _ => return Browse::default(),
    };
    let total = items.len();
    if let Some(search) = &state.search {
        let texts: Vec<Searched> = items.into_iter().map(|i| i.3).collect();
        let rows = matches(search.field.value(), &texts);
        return Browse {
            groups: Vec::new(),
            rows,
            total,
            searching: true,
        };
    }
    let mut groups: Vec<Group> = Vec::new();
    let mut members: Vec<Vec<usize>> = Vec::new();
    let mut put = |name: &str, i: usize, unsaved: bool, bad: bool| {
        let at = groups
            .iter()
            .position(|g| g.name == name)
            .unwrap_or_else(|| {
                groups.push(Group {
                    name: name.to_owned(),
                    count: 0,
                    unsaved: 0,
                    bad: 0,
                });
                members.push(Vec::new());
                groups.len() - 1
            });
        groups[at].count += 1;
        groups[at].unsaved += usize::from(unsaved);
        groups[at].bad += usize::from(bad);
        members[at].push(i);
    };
    if tab == Tab::Keys {
        // What is in the file comes first: that is what people come to look at.
        for (i, (_, target, bad, _)) in items.iter().enumerate() {
            if model.derived.keys[i].state != KeyState::Missing {
                put(SET, i, model.is_unsaved(target), *bad);
            }
        }
    }
    for (i, (group, target, bad, _)) in items.iter().enumerate() {
        put(group, i, model.is_unsaved(target), *bad);
    }
    let at = state.cursors[0].at.min(groups.len().saturating_sub(1));
    let rows = members.get(at).cloned().unwrap_or_default();
    Browse {
        groups,
        rows,
        total,
        searching: false,
    }
}

/// The row under the cursor of a two-pane tab, as an index into the tab's rows.
pub fn selected(model: &Model) -> Option<usize> {
    let list = browse(model);
    list.rows
        .get(
            model.here().cursors[1]
                .at
                .min(list.rows.len().saturating_sub(1)),
        )
        .copied()
}

/// Show a target: go to its tab, its group and its row.
pub fn jump(model: &mut Model, target: &Target) -> bool {
    let (tab, index) = match target {
        Target::Config(path) => {
            let rows = &model.derived.rows;
            let exact = rows.iter().position(|r| &r.path == path);
            // An element of a list is shown with its list.
            (
                Tab::Settings,
                exact.or_else(|| rows.iter().position(|r| r.path.contains(path))),
            )
        }
        Target::Other(..) => return false,
        Target::Env(name) => (
            Tab::Keys,
            model.derived.keys.iter().position(|k| &k.name == name),
        ),
    };
    let Some(index) = index else { return false };
    model.tab = tab;
    let state = model.here_mut();
    state.search = None;
    state.pane = 1;
    for group in 0.. {
        model.here_mut().cursors[0].at = group;
        let list = browse(model);
        if let Some(row) = list.rows.iter().position(|r| *r == index) {
            model.here_mut().cursors[1].at = row;
            return true;
        }
        if group + 1 >= list.groups.len() {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&str]) -> Vec<Searched> {
        names
            .iter()
            .map(|n| Searched {
                name: (*n).into(),
                more: "seconds".into(),
            })
            .collect()
    }

    #[test]
    fn what_is_called_so_comes_before_what_contains_it() {
        let items = named(&[
            "gateway.timeout_warning",
            "terminal.timeout",
            "agent.max_turns",
        ]);
        assert_eq!(matches("timeout", &items), [1, 0]);
        assert_eq!(matches("turns max", &items), [2]);
        assert_eq!(
            matches("agent seconds", &items),
            [2],
            "the help counts as well"
        );
        assert_eq!(
            matches("tmnltim", &items),
            [1],
            "letters in order, when nothing else fits"
        );
        assert_eq!(matches("", &items).len(), 3);
        assert!(matches("zzz", &items).is_empty());
    }
}
