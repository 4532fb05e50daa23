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

/// Order texts by how well they match; indices of those that match at all. A query without blanks
/// matches as a fuzzy pattern; with blanks every word has to match.
pub fn matches(query: &str, texts: &[String]) -> Vec<usize> {
    if query.trim().is_empty() {
        return (0..texts.len()).collect();
    }
    let mut matcher = Matcher::new(Config::DEFAULT);
    let lower = query.to_lowercase();
    let pattern = Pattern::new(
        &lower,
        CaseMatching::Ignore,
        Normalization::Smart,
        AtomKind::Fuzzy,
    );
    let mut buffer = Vec::new();
    let mut scored: Vec<(u32, usize)> = texts
        .iter()
        .enumerate()
        .filter_map(|(i, text)| {
            let mut score = pattern.score(Utf32Str::new(text, &mut buffer), &mut matcher)?;
            // What contains the query as it is comes before what merely has its letters.
            if lower
                .split_whitespace()
                .all(|w| text.to_lowercase().contains(w))
            {
                score += 1000;
            }
            Some((score, i))
        })
        .collect();
    scored.sort_by_key(|(score, i)| (std::cmp::Reverse(*score), *i));
    // A few letters somewhere in a long help text are no match worth showing.
    let best = scored.first().map_or(0, |s| s.0);
    scored.retain(|(score, _)| best < 1000 || *score >= 1000);
    scored.into_iter().map(|(_, i)| i).collect()
}

/// What the shown tab lists.
pub fn browse(model: &Model) -> Browse {
    browse_tab(model, model.tab)
}

fn browse_tab(model: &Model, tab: Tab) -> Browse {
    let state = &model.tabs[tab.index()];
    let items: Vec<(String, Target, bool, String)> = match tab {
        Tab::Settings => model
            .derived
            .rows
            .iter()
            .map(|r| {
                let text = format!(
                    "{} {}",
                    r.path,
                    r.setting.map(|s| s.help.as_str()).unwrap_or_default()
                );
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
                let text = format!(
                    "{} {}",
                    k.name,
                    k.info.map(|i| i.help.as_str()).unwrap_or_default()
                );
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
        let texts: Vec<String> = items.into_iter().map(|i| i.3).collect();
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

    #[test]
    fn a_search_finds_substrings_before_scattered_letters() {
        let texts: Vec<String> = [
            "terminal.timeout seconds",
            "tts.provider",
            "agent.max_turns",
        ]
        .map(Into::into)
        .into();
        assert_eq!(matches("timeout", &texts), [0]);
        assert_eq!(
            matches("trnout", &texts),
            [0],
            "letters in order are enough"
        );
        assert_eq!(matches("max turns", &texts), [2]);
        assert_eq!(matches("", &texts).len(), 3);
        assert!(matches("zzz", &texts).is_empty());
    }
}
