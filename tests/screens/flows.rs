//! What users do, from the first key to the file on disk.

use super::drive::Screen;

/// The lines that differ between two texts.
fn changed(before: &str, after: &str) -> Vec<String> {
    similar::TextDiff::from_lines(before, after)
        .iter_all_changes()
        .filter(|c| c.tag() != similar::ChangeTag::Equal)
        .map(|c| {
            let sign = if c.tag() == similar::ChangeTag::Delete {
                '-'
            } else {
                '+'
            };
            format!("{sign}{}", c.value().trim_end_matches('\n'))
        })
        .collect()
}

#[test]
fn a_setting_is_edited_reviewed_and_saved_and_nothing_else_changes() {
    let mut screen = Screen::at(80, 24);
    let before = screen.read("config.yaml");
    screen.press("3/terminal.timeout<ret><ret><C-u>300<ret>s<ret><ret>");
    assert_eq!(
        changed(&before, &screen.read("config.yaml")),
        ["-  timeout: 240", "+  timeout: 300"]
    );
    assert!(screen.model.unsaved.is_empty());
}

#[test]
fn a_comment_behind_the_value_stays_and_the_twin_in_env_is_kept_in_step() {
    let mut screen = Screen::at(80, 24);
    let (config, env) = (screen.read("config.yaml"), screen.read(".env"));
    screen.press("3/terminal.backend<ret><ret><home><ret>s<ret>");
    assert_eq!(
        changed(&config, &screen.read("config.yaml")),
        [
            "-  backend: docker                # was: local",
            "+  backend: local                # was: local"
        ]
    );
    assert_eq!(
        changed(&env, &screen.read(".env")),
        ["-TERMINAL_ENV=docker", "+TERMINAL_ENV=local"]
    );
}

#[test]
fn a_key_is_set_without_ever_being_shown() {
    let mut screen = Screen::at(80, 24);
    let env = screen.read(".env");
    screen.press("2/TAVILY_API_KEY<ret><ret>tvly-0123456789abcdef<ret>s");
    let review = screen.text();
    assert!(!review.contains("0123456789abcdef"), "{review}");
    assert!(!review.contains("tvly-FAKE0000000000001"), "{review}");
    screen.press("<ret>");
    assert!(!screen.text().contains("0123456789abcdef"));
    assert_eq!(
        changed(&env, &screen.read(".env")),
        [
            "-TAVILY_API_KEY=tvly-FAKE0000000000001",
            "+TAVILY_API_KEY=tvly-0123456789abcdef"
        ]
    );
}

#[test]
fn undo_brings_the_file_back_and_redo_the_change() {
    let mut screen = Screen::at(80, 24).keys("3/terminal.timeout<ret><ret><C-u>300<ret>");
    assert_eq!(screen.model.unsaved.len(), 1);
    screen.press("u");
    assert!(screen.model.unsaved.is_empty());
    screen.press("s");
    assert!(screen.text().contains("nothing is unsaved"));
    screen.press("<C-r>");
    assert_eq!(screen.model.unsaved.len(), 1);
}

#[test]
fn picking_a_model_writes_what_hermes_model_writes() {
    let mut screen = Screen::at(80, 24);
    let before = screen.read("config.yaml");
    // Deepseek has a key in the sample, so it stands near the top.
    screen.press("1<ret>");
    let at = screen
        .model
        .derived
        .providers
        .iter()
        .position(|p| p.id == "deepseek")
        .unwrap();
    screen.model.tabs[0].cursors[1].at = at;
    screen.model.tabs[0].cursors[2].at = 0;
    screen.press("<ret><ret>s<ret>");
    let after = changed(&before, &screen.read("config.yaml"));
    assert!(
        after.contains(&"+  provider: deepseek".to_owned()),
        "{after:?}"
    );
    assert!(
        after.contains(&"+  base_url: https://api.deepseek.com/v1".to_owned()),
        "{after:?}"
    );
    assert!(
        after.iter().any(|l| l.starts_with("-  api_mode")),
        "{after:?}"
    );
}

#[test]
fn an_external_change_of_another_key_is_merged_and_of_the_same_key_refused() {
    let mut screen = Screen::at(80, 24).keys("3/terminal.timeout<ret><ret><C-u>300<ret>");
    let other = screen
        .read("config.yaml")
        .replace("max_turns: 60", "max_turns: 61");
    put(&screen, "config.yaml", &other);
    screen.press("s<ret><ret>");
    let text = screen.read("config.yaml");
    assert!(text.contains("timeout: 300") && text.contains("max_turns: 61"));

    screen.press("3/terminal.timeout<ret><ret><C-u>301<ret>");
    put(
        &screen,
        "config.yaml",
        &text.replace("timeout: 300", "timeout: 999"),
    );
    screen.press("s");
    let shown = screen.text();
    assert!(
        shown.contains("terminal.timeout") && shown.contains("changed on disk"),
        "{shown}"
    );
    assert!(
        screen.read("config.yaml").contains("timeout: 999"),
        "nothing was written"
    );
}

fn put(screen: &Screen, name: &str, text: &str) {
    use std::io::Write as _;
    std::fs::File::create(screen.path(name))
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
}

#[test]
fn quitting_asks_while_something_is_unsaved() {
    let mut screen = Screen::at(80, 24).keys("3/display.timestamps<ret><space>q");
    assert!(!screen.left);
    screen.press("<esc>");
    assert!(!screen.left);
    screen.press("qy");
    assert!(screen.left);
    assert!(
        Screen::at(80, 24).keys("q").left,
        "nothing unsaved, nothing asked"
    );
}

#[test]
fn a_pasted_key_is_cleaned_and_the_guard_can_be_overruled() {
    let keys = "2/TAVILY_API_KEY<ret><ret>";
    let mut screen = Screen::at(80, 24)
        .keys(keys)
        .paste("tvly-\u{200b}0123456789\n");
    assert!(screen.text().contains("1 zero-width character removed"));
    screen.press("<ret>s<ret>");
    assert!(
        screen
            .read(".env")
            .contains("TAVILY_API_KEY=tvly-0123456789\n")
    );
}

#[test]
fn lists_are_edited_element_by_element() {
    let mut screen = Screen::at(80, 24);
    let before = screen.read("config.yaml");
    screen.press("3/docker_volumes<ret><ret>a/srv/new:/new<ret>");
    screen.press("<home>d<esc>s<ret>");
    assert_eq!(
        changed(&before, &screen.read("config.yaml")),
        ["-    - /srv/mira:/workspace", "+    - /srv/new:/new"]
    );
}

#[test]
fn a_managed_home_is_read_only_and_says_why() {
    let mut screen = Screen::with(80, 24, |home| {
        std::fs::File::create(home.join(".managed")).unwrap();
    })
    .keys("3/display.timestamps<ret><space>");
    assert!(screen.model.unsaved.is_empty());
    assert!(screen.text().contains("managed"), "{}", screen.text());
}

#[test]
fn a_broken_config_is_never_written_and_env_stays_editable() {
    let broken = "model: [a\nterminal: x\n";
    let mut screen = Screen::with(80, 24, |home| {
        use std::io::Write as _;
        std::fs::File::create(home.join("config.yaml"))
            .unwrap()
            .write_all(broken.as_bytes())
            .unwrap();
    });
    screen.press("3/terminal.timeout<ret><ret>");
    assert!(screen.text().contains("line "), "{}", screen.text());
    screen.press("<esc>2/TAVILY_API_KEY<ret><ret>tvly-0123456789abcdef<ret>s<ret>");
    assert!(screen.read(".env").contains("tvly-0123456789abcdef"));
    assert_eq!(screen.read("config.yaml"), broken);
}

#[test]
fn no_secret_of_the_sample_home_is_on_any_tab() {
    let mut screen = Screen::at(200, 60);
    let secrets: Vec<String> = screen
        .read(".env")
        .lines()
        .filter(|l| !l.starts_with('#'))
        .filter_map(|l| l.trim_start_matches("export ").split_once('='))
        .filter(|(name, _)| hermes_tui::catalog::catalog().is_secret_name(name))
        .map(|(_, v)| {
            v.split(" #")
                .next()
                .unwrap()
                .trim()
                .trim_matches(['"', '\''])
                .to_owned()
        })
        .filter(|v| !v.is_empty())
        .collect();
    assert!(secrets.len() > 10, "{}", secrets.len());
    for tab in ["1", "2", "3", "4", "5"] {
        screen.press(tab);
        for _ in 0..30 {
            let text = screen.text();
            for secret in &secrets {
                assert!(
                    !text.contains(secret.as_str()),
                    "a secret is on tab {tab}:\n{text}"
                );
            }
            screen.press("j");
        }
    }
}

#[test]
fn a_copy_is_brought_back_from_the_storage_tab() {
    let mut screen = Screen::at(80, 24);
    let before = screen.read("config.yaml");
    screen.press("3/terminal.timeout<ret><ret><C-u>300<ret>s<ret><ret>");
    assert_ne!(screen.read("config.yaml"), before);
    screen.press("5b");
    assert!(screen.text().contains("Bring back a copy of config.yaml"));
    screen.press("<ret>");
    assert!(screen.text().contains("Brought back"), "{}", screen.text());
    assert_eq!(screen.read("config.yaml"), before);
}

#[test]
fn edits_of_a_session_that_was_cut_off_are_offered_again() {
    let screen = Screen::at(80, 24).keys("3/terminal.timeout<ret><ret><C-u>300<ret>");
    hermes_tui::session::save_draft(&screen.model.session.home, &screen.model.log).unwrap();
    let draft = std::fs::read(screen.path(".hermes-tui.draft")).unwrap();
    let mut next = Screen::with(80, 24, |home| {
        use std::io::Write as _;
        let mut file = std::fs::File::create(home.join(".hermes-tui.draft")).unwrap();
        file.write_all(&draft).unwrap();
    });
    assert!(
        next.text().contains("set terminal.timeout"),
        "{}",
        next.text()
    );
    next.press("<ret>s<ret>");
    assert!(next.read("config.yaml").contains("timeout: 300"));
}

#[test]
fn a_state_file_is_edited_in_its_own_text() {
    let mut screen = Screen::with(80, 24, |home| {
        use std::io::Write as _;
        let mut file = std::fs::File::create(home.join("channel_aliases.json")).unwrap();
        file.write_all(
            b"{\r\n  \"telegram\": {\"777000111\": \"Mira\",  \"777000222\": \"Jon\"}\r\n}",
        )
        .unwrap();
    });
    let at = screen
        .model
        .storage
        .iter()
        .position(|r| r.name == "channel_aliases.json")
        .unwrap();
    screen.press("5");
    screen.model.tabs[4].cursors[0].at = at;
    screen.press("<ret><ret><ret><C-u>Mirabel<ret>");
    assert_eq!(screen.model.unsaved.len(), 1);
    screen.press("<esc><esc>s<ret>");
    assert_eq!(
        screen.read("channel_aliases.json"),
        "{\r\n  \"telegram\": {\"777000111\": \"Mirabel\",  \"777000222\": \"Jon\"}\r\n}"
    );
}

#[test]
fn a_toml_file_of_the_home_is_edited_in_its_own_text() {
    let text = "# mine\n[lamp]\non = true   # evenings\nlevel = 3\n";
    let mut screen = Screen::with(80, 24, |home| {
        use std::io::Write as _;
        let mut file = std::fs::File::create(home.join("lamp.toml")).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    });
    let at = screen
        .model
        .storage
        .iter()
        .position(|r| r.name == "lamp.toml")
        .unwrap();
    screen.press("5");
    screen.model.tabs[4].cursors[0].at = at;
    screen.press("<ret><ret><down><ret><C-u>5<ret><esc><esc>s<ret>");
    assert_eq!(
        screen.read("lamp.toml"),
        text.replace("level = 3", "level = 5")
    );
}

#[test]
fn a_broken_state_file_is_shown_and_never_written() {
    let mut screen = Screen::with(80, 24, |home| {
        use std::io::Write as _;
        let mut file = std::fs::File::create(home.join("auth.json")).unwrap();
        file.write_all(b"{\"version\": 1,").unwrap();
    });
    screen.press("5<down><down><ret>");
    let shown = screen.text();
    assert!(
        shown.contains("auth.json is read-only here: line 1"),
        "{shown}"
    );
}

#[test]
fn a_fix_that_only_respells_a_variable_can_be_saved() {
    let mut screen = Screen::at(80, 24).keys("4f");
    assert_eq!(screen.model.unsaved.len(), 1, "{}", screen.text());
    screen.press("s<ret>");
    let env = screen.read(".env");
    assert!(
        env.contains("# rotate in June\nMCP_TICKETS_API_KEY=fake-ticket-token\n"),
        "{env}"
    );
    screen.press("<ret>");
    assert!(screen.model.derived.problems.is_empty());
}

#[test]
fn a_duplicate_is_removed_and_saved() {
    let mut screen = Screen::with(80, 24, |home| {
        use std::io::Write as _;
        let mut file = std::fs::OpenOptions::new()
            .append(true)
            .open(home.join(".env"))
            .unwrap();
        file.write_all(b"\nFEISHU_DOMAIN=feishu\n").unwrap();
    });
    screen.press("4");
    let at = screen
        .model
        .derived
        .problems
        .iter()
        .position(|p| p.key == "FEISHU_DOMAIN")
        .unwrap();
    screen.model.tabs[3].cursors[0].at = at;
    screen.press("fs<ret>");
    assert_eq!(screen.read(".env").matches("FEISHU_DOMAIN=").count(), 1);
}

#[test]
fn a_list_that_changed_underneath_is_a_conflict_not_another_element() {
    let mut screen = Screen::at(80, 24).keys("1<down>x");
    assert_eq!(screen.model.unsaved.len(), 1, "{}", screen.text());
    let gone = "  - provider: deepseek\n    model: deepseek-v4-pro\n";
    let other = screen.read("config.yaml").replace(gone, "");
    put(&screen, "config.yaml", &other);
    screen.press("s");
    assert!(
        screen.text().contains("changed on disk"),
        "{}",
        screen.text()
    );
    assert_eq!(screen.read("config.yaml"), other);
}

#[test]
fn of_several_old_endpoints_the_chosen_one_is_written() {
    let mut screen = Screen::with(80, 24, |home| {
        let path = home.join("config.yaml");
        let text = std::fs::read_to_string(&path).unwrap().replace(
            "custom_providers:\n",
            "custom_providers:\n  - name: Paid\n    base_url: https://paid.example/v1\n    model: big\n",
        );
        let mut file = std::fs::File::create(&path).unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
    });
    screen.press("1<ret>");
    let at = screen
        .model
        .derived
        .providers
        .iter()
        .position(|p| p.label == "Laptop Ollama")
        .unwrap();
    screen.model.tabs[0].cursors[1].at = at;
    screen.model.tabs[0].cursors[2].at = 0;
    screen.press("<ret><ret>s<ret>");
    let text = screen.read("config.yaml");
    assert!(
        text.contains("base_url: http://127.0.0.1:11434/v1\n  "),
        "{text}"
    );
    assert!(
        text.contains("    model: big\n"),
        "the other endpoint is as it was: {text}"
    );
}

#[test]
fn commands_on_the_clipboard_hold_no_secret() {
    let mut screen = Screen::at(80, 24)
        .keys("2/TAVILY_API_KEY<ret><ret>tvly-0123456789abcdef<ret><ret><esc>3/terminal.timeout<ret><ret><C-u>9<ret>sy");
    let text = screen.copied.take().unwrap();
    assert!(!text.contains("0123456789abcdef"), "{text}");
    assert!(text.contains("--env set TAVILY_API_KEY --stdin"), "{text}");
    assert!(text.contains("--config set terminal.timeout 9"), "{text}");
}

#[test]
fn keys_on_rows_need_the_rows_pane() {
    let mut screen = Screen::at(80, 24).keys("2x");
    assert!(screen.model.unsaved.is_empty(), "{}", screen.text());
}
