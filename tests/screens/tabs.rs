//! Each tab at the three sizes that people meet.

use super::drive::Screen;

fn tab(name: &str, key: &str) {
    for (width, height) in [(80, 24), (120, 40), (40, 10)] {
        let mut screen = Screen::at(width, height).keys(key);
        insta::assert_snapshot!(format!("{name}-{width}x{height}"), screen.snapshot());
    }
}

#[test]
fn models() {
    tab("models", "1");
}

#[test]
fn keys() {
    tab("keys", "2");
}

#[test]
fn settings() {
    tab("settings", "3");
}

#[test]
fn problems() {
    tab("problems", "4");
}

#[test]
fn storage() {
    tab("storage", "5");
}

#[test]
fn too_small_says_how_large_it_must_be_and_recovers() {
    let mut screen = Screen::at(39, 10);
    assert!(
        screen
            .text()
            .contains("hermes-tui needs 40x10, this is 39x10")
    );
    for (width, height) in [(1, 1), (5, 3), (40, 9), (200, 60)] {
        Screen::at(width, height).text();
    }
}
