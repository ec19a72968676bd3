//! Help, examples, man pages, completions, exit statuses and colours.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use timeline::Priority;

use crate::command::*;
use crate::store::receiving;
use crate::support::Name;

/// The command lines under "Examples:", up to the first pipe.
fn examples(verb: &str) -> Vec<Vec<String>> {
    let help = succeed(&[verb, "--help"]).stdout;
    let (_, examples) = help
        .split_once("\nExamples:\n")
        .expect("every verb has examples");
    examples
        .lines()
        .filter_map(|line| line.strip_prefix("  timeline "))
        .map(|line| line.split(" | ").next().unwrap_or_default())
        .map(words)
        .collect()
}

/// The words of a command line, in which quotes hold some together.
fn words(line: &str) -> Vec<String> {
    let parts = line.split('\'').enumerate();
    let words = parts.flat_map(|(number, part)| match number % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    });
    words.collect()
}

#[test]
fn help_is_there_for_every_verb() {
    let help = succeed(&["--help"]).stdout;
    for verb in VERBS {
        assert!(
            help.contains(&format!("\n  {verb} ")),
            "{verb} is not in {help}"
        );
        assert!(succeed(&[verb, "-h"]).stdout.contains("\nUsage: timeline "));
    }
    assert!(!help.contains("generate"), "{help}");
    let version = succeed(&["--version"]).stdout;
    assert_eq!(version, format!("timeline {}\n", env!("CARGO_PKG_VERSION")));
}

/// Runs one example as it stands, but for the names, which become this test's own.
fn run_example(verb: &str, number: usize, example: &[String]) {
    let name = Name::new(&format!("example-{verb}-{number}"));
    // A run before the last restart, and the present one. It keeps all that is logged while the
    // example starts, however long that takes.
    drop(name.create(256));
    let tl = name.create(1 << 16);
    let events = Events::define(&tl);
    log_sums(&tl, &events, 30);
    for (category, messages) in [
        ("engine", ["begin breath", "end breath"]),
        ("engine", ["tick", "tock"]),
        ("http", ["got: $id", "sent: $id"]),
    ] {
        for message in messages {
            tl.log(tl.define(category, Priority::Info, message).unwrap(), [7]);
        }
    }
    let directory = tempfile::tempdir().unwrap();
    let file = snapshot(&name, directory.path());
    let is_archive =
        |word: &&String| ["crash.tla", "flight.tla", "flights/"].contains(&word.as_str());
    // What is recorded to must not hold something else already.
    let archives = example.iter().filter(is_archive);
    for archive in archives.filter(|_| verb != "record") {
        let archive = directory.path().join(archive).display().to_string();
        succeed(&["record", &file, "-o", &archive, "--fsync", "never"]);
    }
    let has = |wanted: &str| example.iter().any(|word| word == wanted);
    if verb == "histogram" && has("spans.hlog") && !has("--follow") {
        let log = directory.path().join("spans.hlog").display().to_string();
        succeed(&["histogram", &file, "-o", &log]);
    }
    let catalogue = "packet|got packet $len:bytes\nIt came.\n";
    fs::write(directory.path().join("engine.events"), catalogue).unwrap();
    fs::write(directory.path().join("server.log"), "one line\n").unwrap();
    let token = directory.path().join("token");
    fs::write(&token, "correct-horse-battery-staple").unwrap();
    fs::set_permissions(&token, Permissions::from_mode(0o600)).unwrap();
    let mut args: Vec<String> = example
        .iter()
        .map(|word| match word.as_str() {
            "/timeline" => name.path().to_string(),
            "/timeline.prev" => name.beside(".prev"),
            other => other.to_string(),
        })
        .collect();
    let to = args.iter().position(|word| word == "--to");
    let store = to.filter(|_| verb == "record").map(|place| {
        let (store, address) = receiving(&directory.path().join("traces"), "127.0.0.1:0");
        args[place + 1] = address;
        store
    });
    let other = other_side(verb, &mut args, directory.path());
    if ["serve", "store", "agent"].contains(&verb) {
        listen_elsewhere(&mut args);
    }
    if verb == "rm" || verb == "demo" {
        drop(tl);
        if verb == "demo" {
            args.insert(1, name.path().into());
        }
        return finish_example(&args, directory.path(), || {});
    }
    finish_example(&args, directory.path(), || tl.log(events.sum, [1, 2, 3]));
    drop((store, other));
}

/// The agent that is asked, or the store whose certificate is to be believed.
fn other_side(verb: &str, args: &mut Vec<String>, directory: &Path) -> Option<Running> {
    match verb {
        "remote" => {
            let mut agent = Running::start(&["agent", "--listen", "127.0.0.1:0"]);
            let lines = agent.stdout_until("an address", |lines| !lines.is_empty());
            args[1].clone_from(&lines[0]);
            Some(agent)
        }
        "list" if args.len() > 1 && args[1].starts_with("store://") => {
            let mut agent = Running::start(&["agent", "--listen", "127.0.0.1:0"]);
            let lines = agent.stdout_until("an address", |lines| !lines.is_empty());
            args[1] = format!("store://{}", lines[0]);
            Some(agent)
        }
        "pin" => {
            let (mut store, address) = receiving(&directory.join("traces"), "127.0.0.1:0");
            let said = store.stderr_until("a certificate", |lines| !lines.is_empty());
            let fingerprint = said[0].rsplit(' ').next().unwrap();
            // Nobody is there to be asked.
            args.splice(1.., [address, fingerprint.to_owned()]);
            Some(store)
        }
        _ => None,
    }
}

/// Others may listen on the ports of the examples.
fn listen_elsewhere(args: &mut Vec<String>) {
    let any = "127.0.0.1:0".to_owned();
    match args.iter().position(|word| word == "--listen") {
        Some(place) => args[place + 1].clone_from(&any),
        None => args.extend(["--listen".to_owned(), any.clone()]),
    }
    if let Some(place) = args.iter().position(|word| word == "--http") {
        args[place + 1] = any;
    }
}

/// Runs to the end, or until it has shown something and goes on: then interrupts it.
fn finish_example(args: &[String], directory: &Path, keep_busy: impl Fn()) {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    // Other verbs that follow end by themselves here: nobody records any more. A watch of an
    // archive does so, too.
    let is_import = args[0] == "import" && args.contains(&"--follow");
    let is_live = args[0] != "watch" || !args.contains(&"flight.tla");
    let out = directory.join("out");
    let file = fs::File::create(&out).unwrap();
    let mut command = command(&args);
    if args[0] == "pin" {
        command.env("XDG_CONFIG_HOME", directory);
    }
    if args[0] == "serve" {
        // No browser of the person who tests is opened.
        command.env("PATH", directory);
    }
    let mut child = command
        .current_dir(directory)
        .stdout(file.try_clone().unwrap())
        .stderr(file)
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let mut status = None;
    eventually("the example to show something", || {
        keep_busy();
        status = child.try_wait().unwrap();
        let recording = (args[0] == "record" || is_import)
            && ["flight.tla", "flights/timeline-000001.tla", "server.tla"]
                .iter()
                .any(|file| directory.join(file).exists());
        let is_log = args.contains(&"--follow") && directory.join("spans.hlog").exists();
        status.is_some() || recording || is_log || fs::metadata(&out).unwrap().len() > 0
    });
    let is_endless = (args[0] == "histogram" && args.contains(&"--follow"))
        || matches!(
            args[0],
            "tail" | "record" | "sample" | "serve" | "store" | "agent" | "demo" | "watch" if is_live
        );
    if status.is_none() && (is_import || is_endless) {
        kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    }
    let status = child.wait().unwrap();
    // These may find nothing.
    let is_search = matches!(args[0], "search" | "watch");
    assert!(
        status.success() || (is_search && status.code() == Some(1)),
        "timeline {args:?}: {}",
        fs::read_to_string(&out).unwrap()
    );
}

#[test]
fn every_example_works() {
    for verb in VERBS {
        let examples = examples(verb);
        assert!(!examples.is_empty(), "{verb} has no example");
        for (number, example) in examples.iter().enumerate() {
            assert_eq!(example[0], verb);
            run_example(verb, number, example);
        }
    }
}

#[test]
fn misuse_is_status_2_and_told_on_standard_error() {
    let cases: [&[&str]; 11] = [
        &[],
        &["frobnicate"],
        &["events", "/x", "/y"],
        &["dump", "/x", "-n", "many"],
        &["dump", "/x", "-n", "-1"],
        &["dump", "/x", "--json", "--long"],
        &["rm"],
        &["record", "/x"],
        &["demo", "--seconds", "0"],
        &["sample", "/x", "--level", "all"],
        &["generate", "completions", "abacus"],
    ];
    for args in cases {
        let ran = run(args);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(2), ""),
            "{args:?}: {ran:?}"
        );
        assert!(!ran.stderr.is_empty());
    }
}

/// Each option that takes a value has the name of it in the synopsis, as `--help` has it.
fn synopsis_has_values(verb: &str, page: &str) {
    let synopsis = page.split(".SH SYNOPSIS\n").nth(1).unwrap();
    let synopsis = synopsis.split(".SH ").next().unwrap();
    let synopsis = synopsis
        .replace("\\fB", "")
        .replace("\\fI", "")
        .replace("\\fR", "");
    let synopsis = synopsis.replace("\\-", "-");
    let help = succeed(&[verb, "--help"]).stdout;
    let options = help.split("\nOptions:\n").nth(1).unwrap().lines();
    for option in options.filter_map(|line| line.trim_start().split_once('<')) {
        let (names, (value, _)) = (option.0.trim_end(), option.1.split_once('>').unwrap());
        if let Some(name) = names
            .split(", ")
            .last()
            .filter(|name| name.starts_with("--"))
        {
            assert!(
                synopsis.contains(&format!("{name} {value}")),
                "{name} {value}: {synopsis}"
            );
        }
    }
    let arguments = help.split("\nArguments:\n").nth(1).unwrap_or_default();
    let arguments = arguments.split("\n\nOptions:").next().unwrap().lines();
    for line in arguments.filter(|line| line.starts_with("  [") || line.starts_with("  <")) {
        let value = line.split(['[', ']', '<', '>']).nth(1).unwrap();
        assert!(synopsis.contains(value), "{value}: {synopsis}");
    }
}

#[test]
fn man_pages_are_written_for_the_command_and_every_verb() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("share/man/man1");
    succeed(&["generate", "man", target.to_str().unwrap()]);
    let read = |name: &str| fs::read_to_string(target.join(name)).unwrap();
    let main = read("timeline.1");
    assert!(main.contains(".SH NAME\ntimeline \\- "), "{main}");
    for verb in VERBS {
        assert!(
            main.contains(&format!("timeline\\-{verb}(1)")),
            "{verb} is not in {main}"
        );
        let page = read(&format!("timeline-{verb}.1"));
        assert!(page.contains(&format!(".TH timeline-{verb} 1")), "{page}");
        assert!(
            page.contains(&format!(".SH NAME\ntimeline\\-{verb} \\- ")),
            "{page}"
        );
        assert!(page.contains(".SH EXAMPLES\n.TP\n"), "{page}");
        assert!(page.contains(&format!("\\fBtimeline {verb}")), "{page}");
        assert!(page.ends_with(".SH SEE ALSO\n.BR timeline (1)\n"), "{page}");
        synopsis_has_values(verb, &page);
    }
    for (section, what) in [
        ("EXAMPLES", "timeline tail /timeline"),
        ("EXIT STATUS", "\\fB2\\fR"),
        ("ENVIRONMENT", "\\fBNO_COLOR\\fR"),
        ("ENVIRONMENT", "\\fBTZ\\fR"),
        ("FILES", "\\fB/dev/shm/NAME\\fR"),
    ] {
        let text = main
            .split(&format!(".SH {section}\n"))
            .nth(1)
            .expect(section);
        let text = text.split(".SH ").next().unwrap();
        assert!(text.contains(what), "{section}: {text}");
    }
    assert!(!main.contains("timeline\\-help(1)"), "{main}");
    let pages: Vec<_> = fs::read_dir(&target).unwrap().collect();
    assert_eq!(pages.len(), 1 + VERBS.len());
    let pages: Vec<_> = pages.into_iter().map(|page| page.unwrap().path()).collect();
    for page in &pages {
        // What mandoc warns of.
        let text = fs::read_to_string(page).unwrap();
        let title = text.lines().find(|line| line.starts_with(".TH ")).unwrap();
        let date = title.split_whitespace().nth(3).unwrap();
        assert!(date.len() == 10 && date.starts_with("20"), "{title}");
        assert!(!text.contains(".br\n\n"), "{text}");
        // What groff warns of, which takes no bytes of UTF-8.
        assert!(text.is_ascii(), "{text}");
    }
    let mut mandoc = Command::new("mandoc");
    mandoc.args(["-T", "lint", "-W", "warning"]).args(pages);
    let lint = mandoc.output().expect("the package mandoc");
    let told = String::from_utf8(lint.stdout).unwrap();
    assert!(lint.status.success() && told.is_empty(), "{told}");
    let message = fail(&["generate", "man", "/dev/null/man"]);
    assert!(message.contains("/dev/null/man"), "{message}");
}

#[test]
fn completions_are_printed_for_each_shell() {
    for shell in ["bash", "zsh", "fish"] {
        let script = succeed(&["generate", "completions", shell]).stdout;
        for word in VERBS.into_iter().chain(["warning", "max-entries"]) {
            assert!(
                script.contains(word),
                "{word} is not in the completions for {shell}"
            );
        }
    }
}

/// What the verb writes where it takes standard output for a terminal.
fn on_a_terminal(args: &[&str], environment: &[(&str, &str)]) -> String {
    let output = script(args, environment).output().unwrap();
    assert!(output.status.success(), "{args:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn script(args: &[&str], environment: &[(&str, &str)]) -> Command {
    let mut line = vec![env!("CARGO_BIN_EXE_timeline")];
    line.extend(args);
    // `script`, of util-linux, runs a command on a terminal of its own.
    let mut script = Command::new("script");
    script
        .args(["-qec", &line.join(" "), "/dev/null"])
        .stdin(Stdio::null());
    script
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR")
        // In continuous integration, a dumb terminal is taken for a clever one.
        .env_remove("CI")
        .env("TERM", "xterm")
        .env("PAGER", "cat");
    script.envs(environment.iter().copied());
    script
}

#[test]
fn a_terminal_is_not_read() {
    let mut script = script(&["search", "-", "x"], &[]);
    // Open, so that the terminal has no end.
    let child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = child.unwrap();
    let input = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(input);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("standard input is a terminal"), "{text}");
}

#[test]
fn long_output_is_shown_in_a_pager_on_a_terminal() {
    let name = Name::new("pager");
    let tl = name.create(256);
    let events = Events::define(&tl);
    tl.log(events.fail, [1, 2, 3]);
    let pager = ("PAGER", "sed s/^/paged:/");
    let paged = |words: &[&str], environment: &[(&str, &str)]| {
        let text = on_a_terminal(words, environment);
        let lines = text.lines().filter(|line| line.starts_with("paged:"));
        assert!(text.contains('\x1b'), "{text}");
        lines.count() == text.lines().count()
    };
    for words in [&["dump", name.path()][..], &["search", name.path(), "1"]] {
        assert!(paged(words, &[pager]), "{words:?}");
        assert!(!paged(&[words, &["--no-pager"]].concat(), &[pager]));
        assert!(!paged(words, &[pager, ("TIMELINE_PAGER", "")]));
        assert!(paged(words, &[("TIMELINE_PAGER", pager.1)]));
        // Without that program the terminal gets nothing, and neither waits for anything.
        on_a_terminal(words, &[("PAGER", "true")]);
        for command in ["/tmp", "'nosuch'"] {
            let text = on_a_terminal(words, &[("PAGER", command)]);
            assert!(text.contains("could not be started"), "{text}");
        }
        for command in ["no-such-pager -R", "LESS=x /no/such/pager"] {
            let text = on_a_terminal(words, &[("PAGER", command)]);
            assert!(text.contains("there is no pager"), "{text}");
            assert!(text.contains("read "), "{text}");
        }
    }
    assert!(!paged(&["list"], &[pager]));
}

#[test]
fn colour_is_for_terminals_only() {
    let name = Name::new("colour");
    let tl = name.create(256);
    let events = Events::define(&tl);
    tl.log(events.fail, [1, 2, 3]);
    let directory = tempfile::tempdir().unwrap();
    let file = snapshot(&name, directory.path());
    for args in [
        vec!["list"],
        vec!["info", &file],
        vec!["dump", &file],
        vec!["tail", &file],
    ] {
        let ran = succeed(&args);
        assert!(
            !ran.stdout.contains('\x1b') && !ran.stderr.contains('\x1b'),
            "{ran:?}"
        );
        let coloured = on_a_terminal(&args, &[]);
        assert!(coloured.contains('\x1b'), "{args:?}: {coloured}");
        for plain in [("NO_COLOR", "1"), ("TERM", "dumb")] {
            let text = on_a_terminal(&args, &[plain]);
            assert!(!text.contains('\x1b'), "{args:?} {plain:?}: {text}");
        }
    }
    let forced = command(&["list"])
        .env("CLICOLOR_FORCE", "1")
        .output()
        .unwrap();
    assert!(Ran::new(forced).stdout.contains('\x1b'));
    let text = on_a_terminal(&["list"], &[("CLICOLOR", "0")]);
    assert!(!text.contains('\x1b'), "{text}");
    // The colours change nothing of the text.
    let stripped = anstream::adapter::strip_str(&on_a_terminal(&["dump", &file], &[])).to_string();
    assert_eq!(stripped.replace('\r', ""), succeed(&["dump", &file]).stdout);
}
