//! Completions, in real shells: somebody types and presses the tabulator.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::command::VERBS;
use crate::support::toolchain::{limited, succeed};

/// With the command in the first place.
fn path() -> String {
    let built = Path::new(env!("CARGO_BIN_EXE_timeline")).parent().unwrap();
    format!("{}:{}", built.display(), std::env::var("PATH").unwrap())
}

/// A live name of this test's own, and one that a shell would take for a command; gone with it.
struct Live(String);

impl Live {
    fn new(test: &str) -> Live {
        let live = Live(format!(
            "/timeline-test-complete-{test}-{}",
            std::process::id()
        ));
        for name in live.names() {
            drop(timeline::Timeline::with_size(&name, 256, 4096).unwrap());
        }
        live
    }

    fn names(&self) -> [String; 2] {
        [
            format!("{}-live", self.0),
            format!("{}-$(touch PWNED)", self.0),
        ]
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        for name in self.names() {
            let _ = timeline::unlink(name);
        }
    }
}

/// Has a shell read these lines as if somebody typed them, on a terminal; what is shown.
fn typed(shell: &str, lines: &str, dir: &Path) -> String {
    let mut script = limited("script");
    script
        .args(["-qec", shell, "/dev/null"])
        .current_dir(dir)
        .env("PATH", path())
        .env("HOME", dir)
        .env("TERM", "xterm")
        .env("PAGER", "cat")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped());
    let mut child = script.spawn().expect("util-linux");
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn shells_complete_live_names() {
    let (live, dir) = (Live::new("typed"), TempDir::new().unwrap());
    for (shell, file) in [("bash", "bash"), ("zsh", "_timeline"), ("fish", "fish")] {
        let mut generate = Command::new(env!("CARGO_BIN_EXE_timeline"));
        let script = succeed(
            generate.args(["generate", "completions", shell]),
            "the command",
        );
        fs::write(dir.path().join(file), script.stdout).unwrap();
    }
    // What was completed is run: its output tells.
    let words = [
        format!("timeline info {}-l\t", live.0),
        format!("timeline dump -n 1 --long {}-l\t", live.0),
        format!("timeline rm {}-l\t", live.0),
    ];
    let shells = [
        ("bash --norc --noprofile -i", "source ./bash".to_string()),
        (
            "zsh -f -i",
            "fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D".to_string(),
        ),
    ];
    for (shell, load) in shells {
        let name = &live.names()[0];
        if timeline::users(name).is_err() {
            drop(timeline::Timeline::with_size(name, 256, 4096).unwrap());
        }
        let shown = typed(
            shell,
            &format!("{load}\n{}\nexit\n", words.join("\n")),
            dir.path(),
        );
        assert!(
            shown.contains(&format!("{name}\u{1b}[0m  no writer")),
            "{shell}: {shown}"
        );
        assert!(
            shown.contains("-cycles category message"),
            "{shell}: {shown}"
        );
        assert!(
            timeline::users(name).is_err(),
            "{shell} did not remove {name}: {shown}"
        );
    }
    let mut fish = limited("fish");
    drop(timeline::Timeline::with_size(&live.names()[0], 256, 4096).unwrap());
    fish.current_dir(dir.path())
        .args(["--no-config", "-c"])
        .arg(format!(
            "source ./fish; complete -C 'timeline dump {}-l'",
            live.0
        ))
        .env("HOME", dir.path())
        .env("PATH", path());
    let offered = String::from_utf8(succeed(&mut fish, "fish").stdout).unwrap();
    assert_eq!(offered, format!("{}\tTimeline\n", live.names()[0]));
    assert!(!dir.path().join("PWNED").exists());
}

/// The verbs that take a name in shared memory.
fn named() -> impl Iterator<Item = &'static str> {
    let others = [
        "list", "import", "verify", "repair", "index", "store", "agent", "remote", "pin",
    ];
    VERBS.into_iter().filter(move |verb| !others.contains(verb))
}

/// What a shell offers behind these words, the last of which has only begun.
fn offered(shell: &str, words: &[&str], dir: &Path) -> String {
    let line = words.join(" ");
    let script = match shell {
        "bash" => format!(
            "source ./bash; COMP_WORDS=({line}); COMP_CWORD={}; COMPREPLY=(); \
             _timeline_with_names timeline {} {}; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            words.len() - 1,
            words[words.len() - 1],
            words[words.len() - 2]
        ),
        _ => format!("source ./fish; complete -C '{line}'"),
    };
    let mut shell = limited(shell);
    if shell.get_program() == "fish" {
        shell.arg("--no-config");
    }
    shell.args(["-c", &script]).current_dir(dir);
    shell.env("HOME", dir).env("PATH", path());
    String::from_utf8(succeed(&mut shell, "shells").stdout).unwrap()
}

#[test]
fn every_verb_that_takes_a_name_completes_it() {
    let (live, dir) = (Live::new("each"), TempDir::new().unwrap());
    for shell in ["bash", "fish", "zsh"] {
        let mut generate = Command::new(env!("CARGO_BIN_EXE_timeline"));
        let script = generate.args(["generate", "completions", shell]);
        let script = succeed(script, "the command").stdout;
        fs::write(dir.path().join(shell), script).unwrap();
    }
    let name = &live.names()[0];
    let begun = &name[..name.len() - 2];
    for shell in ["bash", "fish"] {
        let is_offered = |words: &[&str]| {
            let offered = offered(shell, words, dir.path());
            offered.lines().any(|line| line.starts_with(&**name))
        };
        for verb in named() {
            assert!(is_offered(&["timeline", verb, begun]), "{shell}: {verb}");
            let global = ["timeline", "--color", "never", "--no-pager", verb, begun];
            assert!(is_offered(&global), "{shell}: {verb}");
        }
        // In search, -i has no value.
        assert!(is_offered(&["timeline", "search", "-i", begun]), "{shell}");
        assert!(
            is_offered(&["timeline", "dump", "/other", begun]),
            "{shell}"
        );
        assert!(!is_offered(&["timeline", "verify", begun]), "{shell}");
    }
    let with_equals = ["timeline", "--color", "=", "never", "dump", begun];
    assert!(offered("bash", &with_equals, dir.path()).contains(&**name));
    // The line of an argument in zsh's script, behind that of its verb.
    let script = fs::read_to_string(dir.path().join("zsh")).unwrap();
    for verb in named() {
        let (_, block) = script.split_once(&format!("\n({verb})\n")).expect(verb);
        let (block, _) = block.split_once(";;").unwrap();
        assert!(block.contains(":_timeline_names'"), "{verb}: {block}");
    }
    // dump, info and stats take several in two arguments.
    assert_eq!(
        script.matches(":_timeline_names'").count(),
        named().count() + 4
    );
}

#[test]
fn bash_completes_values_lists_and_names_before_options() {
    let (live, dir) = (Live::new("values"), TempDir::new().unwrap());
    let mut generate = Command::new(env!("CARGO_BIN_EXE_timeline"));
    let script = generate.args(["generate", "completions", "bash"]);
    let script = succeed(script, "the command").stdout;
    fs::write(dir.path().join("bash"), script).unwrap();
    let offered = |words: &[&str]| -> Vec<String> {
        let text = offered("bash", words, dir.path());
        text.lines().map(str::to_owned).collect()
    };
    let levels = "error warning info trace app packet library".split(' ');
    let levels: Vec<_> = levels.collect();
    assert_eq!(offered(&["timeline", "dump", "--priority", "''"]), levels);
    assert_eq!(
        offered(&["timeline", "tail", "--priority", "wa"]),
        ["warning"]
    );
    for verb in ["dump", "tail", "search"] {
        let list = ["timeline", verb, "--columns", "time,mes"];
        assert_eq!(offered(&list), ["time,message"], "{verb}");
        let list = ["timeline", verb, "--columns", "time,core,no"];
        assert_eq!(offered(&list), ["time,core,node"], "{verb}");
        assert_eq!(
            offered(&["timeline", verb, "--columns", "mes"]),
            ["message"]
        );
    }
    let all = offered(&["timeline", "dump", "''"]);
    assert!(all.contains(&live.names()[0]), "{all:?}");
    assert!(
        !all.iter().any(|word| word.starts_with(['-', '['])),
        "{all:?}"
    );
    let options = offered(&["timeline", "dump", "--l"]);
    assert_eq!(options, ["--long", "--line"]);
    assert!(offered(&["timeline", "du"]).contains(&"dump".to_owned()));
}

/// What is typed, and the words that come of it.
fn places<'a>(base: &str, [colon, backslash]: [&'a str; 2]) -> Vec<(String, Vec<&'a str>)> {
    vec![
        (format!("info {base}:80\t"), vec!["info", colon]),
        (format!("info {base}:\t"), vec!["info", colon]),
        (format!("info {base}\\\\\t"), vec!["info", backslash]),
        (
            "dump --columns=mess\t".into(),
            vec!["dump", "--columns=message"],
        ),
        (
            format!("dump {colon} --category rad\t"),
            vec!["dump", colon, "--category", "radio"],
        ),
        (
            format!("dump --event radio.beg\t {colon}"),
            vec!["dump", "--event", "radio.beg", colon],
        ),
        (
            format!("outliers {colon} --span radio.s\t"),
            vec!["outliers", colon, "--span", "radio.signal"],
        ),
        (
            format!("enable {colon} radio.beg\t"),
            vec!["enable", colon, "radio.begin_signal"],
        ),
        (
            format!("channel {colon} wi\tof\t"),
            vec!["channel", colon, "wire", "off"],
        ),
        (
            format!("priority {colon} inf\t"),
            vec!["priority", colon, "info"],
        ),
        ("help du\t".into(), vec!["help", "dump"]),
        ("gener\t".into(), vec!["gener"]),
        (
            format!("index {base}:80\t"),
            vec!["index", &colon[..colon.len() - 2]],
        ),
    ]
}

#[test]
fn what_stands_in_a_place_is_offered_there_and_nothing_else() {
    let dir = TempDir::new().unwrap();
    let base = format!("/timeline-test-places-{}", std::process::id());
    let named = Named(vec![format!("{base}:8080"), format!("{base}\\b")]);
    let tl = timeline::Timeline::with_size(&named.0[0], 256, 4096).unwrap();
    let wire = timeline::Attributes {
        channels: "wire",
        ..timeline::Attributes::default()
    };
    let signal = "begin signal $strength";
    let radio = tl.define_with("radio", timeline::Priority::Info, signal, &wire);
    radio.unwrap();
    drop(timeline::Timeline::with_size(&named.0[1], 256, 4096).unwrap());
    let [colon, backslash] = [0, 1].map(|n| named.0[n].as_str());
    let lines = places(&base, [colon, backslash]);
    let expected = |(_, words): &(String, Vec<&str>)| -> String {
        words.iter().map(|word| format!("{word}\0")).collect()
    };
    let expected: String = lines.iter().map(expected).collect();
    let typed_lines = lines.iter().map(|(line, _)| format!("timeline {line}\n"));
    let typed_lines: String = typed_lines.collect();
    let bash = "source ./bash; timeline() { printf '%s\\0' \"$@\" >> out; }";
    let zsh = "fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D; \
               timeline() { printf '%s\\0' \"$@\" >> out; }";
    let fish = "source ./fish; function timeline; printf '%s\\0' $argv >> out; end";
    for (shell, command, load) in [
        ("bash", "bash --norc --noprofile -i", bash),
        ("zsh", "zsh -f -i", zsh),
        ("fish", "fish --no-config -i", fish),
    ] {
        let mut generate = Command::new(env!("CARGO_BIN_EXE_timeline"));
        let script = generate.args(["generate", "completions", shell]);
        let script = succeed(script, "the command").stdout;
        assert!(!String::from_utf8_lossy(&script).contains("man page"));
        let file = if shell == "zsh" { "_timeline" } else { shell };
        fs::write(dir.path().join(file), script).unwrap();
        let lines = format!("{load}\n{typed_lines}exit\n");
        let shown = typed(command, &lines, dir.path());
        let out = fs::read_to_string(dir.path().join("out")).unwrap_or_default();
        assert_eq!(out, expected, "{shell}: {shown}");
        fs::remove_file(dir.path().join("out")).unwrap();
    }
}

/// What names may have that shells take for something else.
const HOSTILE: [&str; 14] = [
    "two words",
    "'q'",
    "\"d\"",
    "$HOME",
    "back\\slash\\n",
    "line\nfeed",
    "`touch PWNED`",
    "$(touch PWNED)",
    "*?[a]",
    "a:b=c",
    ";&|<>()",
    "# !x",
    "{a,b}~",
    "größe ",
];

/// Timelines of these names; gone with it.
struct Named(Vec<String>);

impl Drop for Named {
    fn drop(&mut self) {
        for name in &self.0 {
            let _ = timeline::unlink(name);
        }
    }
}

#[test]
fn a_name_is_completed_to_a_word_that_the_shell_reads_back_as_that_name() {
    let dir = TempDir::new().unwrap();
    let base = format!("/timeline-test-words-{}", std::process::id());
    let names = HOSTILE.iter().enumerate();
    let named = Named(
        names
            .map(|(n, name)| format!("{base}-{n:02}{name}"))
            .collect(),
    );
    for name in &named.0 {
        drop(timeline::Timeline::with_size(name, 256, 4096).unwrap());
    }
    // By their beginnings, and with a part in quotes of each kind.
    let mut words: Vec<_> = (0..HOSTILE.len())
        .map(|n| format!("{base}-{n:02}"))
        .collect();
    words.extend([format!("{base}-00two\\ w"), format!("'{base}-00two w")]);
    words.push(format!("{base}-04back\\\\s"));
    words.extend([
        format!("\"{base}-03"),
        format!("\"{base}-07"),
        format!("'{base}-01"),
        format!("\"{base}-02"),
    ]);
    let again = [0, 0, 4, 3, 7, 1, 2].map(|n| &named.0[n]);
    let expected = named.0.iter().chain(again);
    let expected: String = expected.map(|name| format!("info\0{name}\0")).collect();
    let expected = expected + "dump\0--columns\0time,message\0";
    let bash = "source ./bash; timeline() { printf '%s\\0' \"$@\" >> out; }";
    let zsh = "fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D; \
               timeline() { printf '%s\\0' \"$@\" >> out; }";
    let fish = "source ./fish; function timeline; printf '%s\\0' $argv >> out; end";
    let shells = [
        ("bash", "bash --norc --noprofile -i", bash),
        ("zsh", "zsh -f -i", zsh),
        ("fish", "fish --no-config -i", fish),
    ];
    for (shell, command, load) in shells {
        let mut generate = Command::new(env!("CARGO_BIN_EXE_timeline"));
        let script = generate.args(["generate", "completions", shell]);
        let script = succeed(script, "the command").stdout;
        let file = if shell == "zsh" { "_timeline" } else { shell };
        fs::write(dir.path().join(file), script).unwrap();
        let mut lines = format!("{load}\n");
        for word in &words {
            lines += &format!("timeline info {word}\t\n");
        }
        // Of a list with commas, the last word is completed.
        lines += "timeline dump --columns time,mes\t\nexit\n";
        let shown = typed(command, &lines, dir.path());
        let out = fs::read_to_string(dir.path().join("out")).unwrap_or_default();
        assert_eq!(out, expected, "{shell}: {shown}");
        fs::remove_file(dir.path().join("out")).unwrap();
        assert!(!dir.path().join("PWNED").exists(), "{shell}");
    }
}
