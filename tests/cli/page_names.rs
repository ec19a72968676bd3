//! Files that the pages of the source name are there.

use std::fs;
use std::path::Path;

use crate::documents::folders;
use crate::support::toolchain::root;

/// A file that a page (`//!`) names is there: from the top, or in the folder of the page, above or
/// below it.
#[test]
fn pages_name_files_that_are_there() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for top in ["src", "crates", "ffi/src", "tests"] {
        for folder in folders(root().join(top)) {
            let entries = fs::read_dir(&folder).expect("a folder");
            let paths = entries.map(|entry| entry.expect("an entry of it").path());
            for file in paths.filter(|path| path.extension().is_some_and(|end| end == "rs")) {
                let text = fs::read_to_string(&file).expect("a file of text");
                let page = text.lines().map_while(|line| line.strip_prefix("//!"));
                for line in page {
                    for name in file_names(line) {
                        count += 1;
                        if !is_near(&file, name) {
                            wrong.push(format!("{}: {name}", file.display()));
                        }
                    }
                }
            }
        }
    }
    assert!(count > 400, "only {count} names");
    assert!(wrong.is_empty(), "no such files:\n{}", wrong.join("\n"));
}

/// The names of files in a line, as `name.rs` or `folder/name.rs`.
fn file_names(line: &str) -> impl Iterator<Item = &str> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "_./-".contains(c);
    let words = line.split(move |c: char| !is_of_name(c));
    let words = words.map(|word| word.trim_end_matches('.'));
    words.filter(|word| {
        let is_name = !word.starts_with(['.', '-']) || word.starts_with("../");
        is_name && word.ends_with(".rs") && word.len() > 3
    })
}

fn is_near(file: &Path, name: &str) -> bool {
    let folder = file.parent().expect("a folder");
    let own = file.with_extension("");
    let above = folder.parent().expect("a folder above");
    let places = [root(), folder, above, &own];
    let is_below = || {
        !name.contains('/')
            && folders(folder.to_path_buf())
                .iter()
                .any(|below| below.join(name).exists())
    };
    places.iter().any(|place| place.join(name).exists()) || is_below()
}
