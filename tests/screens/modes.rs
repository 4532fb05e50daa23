//! Everything that floats above the tabs, at 80x24 and 40x10.

use super::drive::Screen;

/// Render what the keys lead to at both sizes. The sizes differ in how the panes are walked, so
/// the keys must not depend on the pane: searches lead to a row everywhere.
fn mode(name: &str, keys: &str) {
    for (width, height) in [(80, 24), (40, 10)] {
        let mut screen = Screen::at(width, height).keys(keys);
        insta::assert_snapshot!(format!("{name}-{width}x{height}"), screen.snapshot());
    }
}

#[test]
fn search() {
    mode("search", "3/timeout");
}

#[test]
fn search_without_a_match() {
    mode("search-empty", "3/qqqqq");
}

#[test]
fn enum_editor() {
    mode("editor-enum", "3/terminal.backend<ret><ret>");
}

#[test]
fn number_editor_refuses_words() {
    mode("editor-number", "3/terminal.timeout<ret><ret><C-u>abc<ret>");
}

#[test]
fn text_editor() {
    mode("editor-text", "3/docker_image<ret><ret>");
}

#[test]
fn secret_editor_shows_bullets() {
    mode(
        "editor-secret",
        "2/OPENROUTER_API_KEY<ret><ret>sk-or-v1-0123456789abcdef",
    );
}

#[test]
fn list_editor() {
    mode("editor-list", "3/docker_volumes<ret><ret>");
}

#[test]
fn map_editor() {
    mode("editor-map", "3/docker_env<ret><ret>");
}

#[test]
fn new_variable() {
    mode("new-variable", "2a9LIVES<ret>");
}

#[test]
fn unsaved_row() {
    mode("unsaved-row", "3/display.timestamps<ret><space>");
}

#[test]
fn model_picker() {
    mode("models-pick", "1<ret><ret>");
}

#[test]
fn review() {
    mode(
        "review",
        "3/terminal.backend<ret><ret><home><ret><esc>2/TAVILY_API_KEY<ret><ret>tvly-0123456789abcdef<ret>s",
    );
}

#[test]
fn receipt() {
    mode(
        "receipt",
        "3/terminal.backend<ret><ret><home><ret><esc>2/TAVILY_API_KEY<ret><ret>tvly-0123456789abcdef<ret>s<ret>",
    );
}

#[test]
fn help() {
    mode("help", "?");
}

#[test]
fn help_filtered() {
    mode("help-filtered", "?undo");
}

#[test]
fn leaving_with_unsaved_changes() {
    mode("confirm-quit", "3/display.timestamps<ret><space>q");
}

#[test]
fn profiles() {
    mode("profiles", "P");
}

#[test]
fn draft_offer() {
    for (width, height) in [(80, 24), (40, 10)] {
        let mut screen = Screen::at(width, height)
            .keys("3/terminal.timeout<ret><ret><C-u>300<ret>/display.timestamps<ret><space>");
        let log = screen.model.log.clone();
        screen.press("uu");
        screen
            .model
            .layers
            .push(hermes_tui::tui::model::Layer::Draft(log));
        insta::assert_snapshot!(format!("draft-{width}x{height}"), screen.snapshot());
    }
}

#[test]
fn no_home_yet() {
    for (width, height) in [(80, 24), (40, 10)] {
        let mut screen = Screen::with(width, height, |home| {
            std::fs::remove_dir_all(home).unwrap();
        });
        insta::assert_snapshot!(format!("welcome-{width}x{height}"), screen.snapshot());
    }
}

#[test]
fn broken_config_is_read_only() {
    for (width, height) in [(80, 24), (40, 10)] {
        let mut screen = Screen::with(width, height, |home| {
            std::fs::File::create(home.join("config.yaml"))
                .and_then(|mut f| std::io::Write::write_all(&mut f, b"model: [a\nterminal: x\n"))
                .unwrap();
        })
        .keys("3/terminal.timeout<ret><ret>");
        insta::assert_snapshot!(format!("broken-{width}x{height}"), screen.snapshot());
    }
}

#[test]
fn ascii_terminal() {
    let mut screen = Screen::at(80, 24);
    screen.model.theme.ascii = true;
    let text = screen.keys("3").text();
    assert!(text.is_ascii(), "{text}");
    insta::assert_snapshot!("ascii-80x24", text);
}

#[test]
fn no_color() {
    let mut screen = Screen::at(80, 24).keys("3");
    screen.model.theme.color = false;
    let snapshot = screen.snapshot();
    for color in ["red", "yellow", "cyan", "green"] {
        assert!(!snapshot.contains(color), "{snapshot}");
    }
}
