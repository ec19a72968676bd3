//! The code in the documents: blocks of a page, and what it says that they print.

use std::fs;

use super::root;

/// A fenced block of a page.
pub struct Block {
    pub language: String,
    pub code: String,
    pub line: usize,
    /// What the page says that it prints.
    pub output: Option<String>,
}

/// The blocks of a page that are to be run.
pub fn blocks(page: &str) -> Vec<Block> {
    let text = fs::read_to_string(root().join(page)).unwrap_or_else(|e| panic!("{page}: {e}"));
    let mut blocks: Vec<Block> = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in (1..).zip(text.lines()) {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(language)) => {
                open = Some(Block {
                    language: language.to_owned(),
                    code: String::new(),
                    line: number,
                    output: None,
                });
            }
            (Some(_), Some(_)) => {
                let block = open.take().unwrap();
                match block.language.as_str() {
                    "output" => {
                        let shown = blocks.last_mut().expect("output of nothing");
                        assert!(shown.output.is_none(), "{page}:{}: of what?", block.line);
                        shown.output = Some(block.code);
                    }
                    "c" | "cpp" | "lua" | "rust" | "cmake" | "console" => blocks.push(block),
                    "text" | "hexdump" | "" => {}
                    other => panic!("{page}:{}: {other} is run by nobody", block.line),
                }
            }
            (Some(block), None) => {
                block.code += line;
                block.code.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "{page} ends within a block");
    blocks
}

/// Output less what differs from run to run: the first three columns of a row of a dump, and how
/// long a span took.
pub fn steady(output: &str) -> Vec<String> {
    let number = |word: &&str| *word == "-" || word.bytes().all(|b| b.is_ascii_digit());
    let rows = output.lines().map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let row = words.len() > 3 && words[..3].iter().all(number);
        let text = words[if row { 3 } else { 0 }..].join(" ");
        match text.rsplit_once(" took ") {
            Some((event, _)) if row => format!("{event} took some time"),
            _ => text,
        }
    });
    rows.collect()
}

/// A program of a page with another name in the place of /timeline, which somebody may have, and
/// with a small ring.
pub fn renamed(program: &str, name: &str) -> String {
    program
        .replace("new(\"/timeline\")", "new(\"/timeline\", 1024)")
        .replace("ring tl(\"/timeline\")", "ring tl(\"/timeline\", 1024)")
        .replace("ring(\"/timeline\")", "ring(\"/timeline\", 1024)")
        .replace("new(\"/timeline\", 0, 0,", "new(\"/timeline\", 1024, 0,")
        .replace("\"/timeline\"", &format!("{name:?}"))
}
