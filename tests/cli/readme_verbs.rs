//! README names the verbs that read archives, and those that take filters, as the command has them.

use std::collections::BTreeSet;
use std::fs;

use crate::command::*;
use crate::support::Name;
use crate::support::toolchain::root;

/// The verbs in backticks between two pieces of README.
fn named(begin: &str, end: &str) -> BTreeSet<String> {
    let readme = fs::read_to_string(root().join("README.md")).expect("README");
    let (_, rest) = readme.split_once(begin).expect("the sentence");
    let (sentence, _) = rest.split_once(end).expect("its end");
    let verbs = sentence.split('`').skip(1).step_by(2).map(str::to_owned);
    verbs.collect()
}

#[test]
fn verbs_that_read_archives_are_those_that_an_error_names() {
    let (name, folder) = (Name::new("readme-verbs"), tempfile::tempdir().unwrap());
    drop(name.create(256));
    let archive = folder.path().join("a.tla").display().to_string();
    succeed(&["record", name.path(), "-o", &archive, "--once"]);
    let told = fail(&["priority", &archive, "info"]);
    let (_, told) = told.split_once("not a timeline; ").expect("the sentence");
    let told = told.split_once(" read").expect("its end").0;
    let told = told.replace(" and ", ", ");
    let told: BTreeSet<String> = told.split(", ").map(str::to_owned).collect();
    let named = named("when it creates the next one. ", " read\nnothing else");
    assert_eq!(named, told);
}

#[test]
fn verbs_that_take_filters_are_those_whose_help_has_them() {
    let has_filters = |verb: &&str| {
        succeed(&[verb, "--help"])
            .stdout
            .contains("\n      --where ")
    };
    let take = VERBS.iter().filter(|verb| has_filters(verb));
    let take: BTreeSet<String> = take.map(|verb| (*verb).to_owned()).collect();
    assert_eq!(named("nothing else. ", " take\n[filters]"), take);
}
