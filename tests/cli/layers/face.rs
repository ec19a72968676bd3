//! The library's face: what its guide names, and what the signatures of that need.
//! All else is in `timeline::internal`, which is no API.

use std::collections::{BTreeMap, BTreeSet};

use quote::ToTokens;
use syn::{
    Attribute, Fields, FnArg, ImplItem, Item, Signature, TraitItem, Type, UseTree, Visibility,
};

use super::{File, collect};
use crate::support::root;

/// What shows people how the library is used.
const PAGES: [&str; 3] = ["README.md", "docs/guide/rust.md", "src/lib.rs"];

/// Public although no page names them, each for a reason.
const REASONS: [(&str, &str); 2] = [
    ("Nanoseconds", "an argument, which is shown as a duration"),
    ("UnixTime", "an argument, which is shown as a time"),
];

/// A public module: all that is in it belongs to the face.
const DUMP: &str = "src/dump/";

type Words = BTreeSet<String>;

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .map(str::to_owned)
}

fn words_of(code: &impl ToTokens) -> Words {
    words(&code.to_token_stream().to_string()).collect()
}

/// The words that a page has in code: in backticks, and in blocks of Rust.
fn words_of_page(page: &str) -> Words {
    let mut found = Words::new();
    for (index, part) in page.split("```").enumerate() {
        match index % 2 {
            0 => found.extend(part.split('`').skip(1).step_by(2).flat_map(words)),
            _ if part.starts_with("rust") || part.starts_with('\n') => found.extend(words(part)),
            _ => {}
        }
    }
    found
}

/// The names that items export with `pub use`, also those in modules among them.
fn exports(items: &[Item], found: &mut Words) {
    for item in items {
        match item {
            Item::Use(item) if is_public(&item.vis) => names(&item.tree, found),
            Item::Mod(item) => {
                exports(item.content.as_ref().map_or(&[], |(_, items)| items), found)
            }
            _ => {}
        }
    }
}

fn names(tree: &UseTree, found: &mut Words) {
    match tree {
        UseTree::Path(path) => names(&path.tree, found),
        UseTree::Group(group) => group.items.iter().for_each(|tree| names(tree, found)),
        UseTree::Name(name) => drop(found.insert(name.ident.to_string())),
        UseTree::Rename(name) => drop(found.insert(name.rename.to_string())),
        UseTree::Glob(_) => {}
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn is_shown(visibility: &Visibility, attributes: &[Attribute]) -> bool {
    is_public(visibility) && !is_hidden(attributes)
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    let is_hidden = |attribute: &Attribute| words_of(attribute).contains("hidden");
    attributes.iter().any(is_hidden)
}

/// The words in the signatures that people see of each item, by the item's name.
#[derive(Default)]
struct Signatures(BTreeMap<String, Words>);

impl Signatures {
    fn add(&mut self, name: &impl ToString, code: &impl ToTokens) {
        self.0
            .entry(name.to_string())
            .or_default()
            .extend(words_of(code));
    }

    fn add_fields(&mut self, name: &impl ToString, fields: &Fields, are_all_public: bool) {
        for field in fields {
            if (are_all_public || is_public(&field.vis)) && !is_hidden(&field.attrs) {
                self.add(name, &field.ty);
            }
        }
    }

    fn add_item(&mut self, item: &Item) {
        match item {
            Item::Struct(item) if is_shown(&item.vis, &item.attrs) => {
                self.add(&item.ident, &item.generics);
                self.add_fields(&item.ident, &item.fields, false);
            }
            Item::Enum(item) if is_shown(&item.vis, &item.attrs) => {
                self.add(&item.ident, &item.generics);
                for variant in &item.variants {
                    self.add_fields(&item.ident, &variant.fields, true);
                }
            }
            Item::Fn(item) if is_shown(&item.vis, &item.attrs) => {
                self.add_function(&item.sig.ident, &item.sig)
            }
            Item::Type(item) if is_shown(&item.vis, &item.attrs) => self.add(&item.ident, &item.ty),
            Item::Trait(item) if is_shown(&item.vis, &item.attrs) => {
                self.add(&item.ident, &item.supertraits);
                for inner in &item.items {
                    if let TraitItem::Fn(function) = inner
                        && !is_hidden(&function.attrs)
                    {
                        self.add_function(&item.ident, &function.sig);
                    }
                }
            }
            Item::Impl(item) => self.add_impl(item),
            _ => {}
        }
    }

    /// The types of a function. The names of it and of what it takes are no types.
    fn add_function(&mut self, name: &impl ToString, signature: &Signature) {
        self.add(name, &signature.generics);
        self.add(name, &signature.output);
        for input in &signature.inputs {
            if let FnArg::Typed(input) = input {
                self.add(name, &input.ty);
            }
        }
    }

    fn add_impl(&mut self, item: &syn::ItemImpl) {
        let Type::Path(path) = &*item.self_ty else {
            return;
        };
        let name = &path.path.segments.last().expect("a name").ident;
        for inner in &item.items {
            match inner {
                ImplItem::Fn(function) if is_shown(&function.vis, &function.attrs) => {
                    self.add_function(name, &function.sig);
                }
                // What an iterator gives.
                ImplItem::Type(inner) => self.add(name, &inner.ty),
                _ => {}
            }
        }
    }

    /// What people meet who begin with these names: each with one that has it in a signature. Only
    /// names of the face lead on.
    fn reached<'a>(&'a self, from: &'a Words, face: &Words) -> BTreeMap<&'a str, &'a str> {
        let mut open: Vec<(&str, &str)> = from.iter().map(|name| (&**name, &**name)).collect();
        let mut reached = BTreeMap::new();
        while let Some((name, by)) = open.pop() {
            if reached.contains_key(name) {
                continue;
            }
            reached.insert(name, by);
            let leads_on = face.contains(name) || from.contains(name);
            let next = self.0.get(name).into_iter().flatten();
            open.extend(next.filter(|_| leads_on).map(|next| (&**next, name)));
        }
        reached
    }
}

fn parsed(text: &str) -> syn::File {
    syn::parse_file(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// What is wrong with a library of these files, of which pages name these words.
fn violations(files: &[File], named: &Words) -> Vec<String> {
    let mut signatures = Signatures::default();
    let (mut face, mut internal, mut begin) = (Words::new(), Words::new(), Words::new());
    for file in files {
        let items = parsed(&file.text).items;
        match &*file.path {
            "src/lib.rs" => exports(&items, &mut face),
            "src/internal.rs" => exports(&items, &mut internal),
            _ => {
                let mut own = Signatures::default();
                items.iter().for_each(|item| own.add_item(item));
                if file.path.starts_with(DUMP) {
                    begin.extend(own.0.keys().cloned());
                }
                for (name, words) in own.0 {
                    signatures.0.entry(name).or_default().extend(words);
                }
            }
        }
    }
    begin.extend(face.intersection(named).cloned());
    begin.extend(REASONS.map(|(name, _)| name.to_owned()));
    let reached = signatures.reached(&begin, &face);
    let is_unknown = |name: &&String| !reached.contains_key(&***name);
    let unknown = face.iter().filter(is_unknown).map(|name| {
        format!(
            "{name}: neither the guide nor a signature of what it names has it: src/internal.rs"
        )
    });
    let leaks = internal.iter().filter_map(|name| {
        let by = reached.get(&**name)?;
        Some(format!(
            "{name} is internal, but {by} has it in a signature"
        ))
    });
    unknown.chain(leaks).collect()
}

#[test]
fn the_face_is_what_the_guide_names() {
    let mut files = Vec::new();
    collect(&root().join("src"), root(), &mut files);
    let named = PAGES.iter().flat_map(|path| {
        let page = std::fs::read_to_string(root().join(path)).expect("a page");
        let lines = page
            .lines()
            .filter(|line| !path.ends_with(".rs") || line.starts_with("//!"));
        let lines = lines.map(|line| line.trim_start_matches("//!").to_owned() + "\n");
        words_of_page(
            &lines
                .map(|line| line.replacen(" ```", "```", 1))
                .collect::<String>(),
        )
    });
    let wrong = violations(&files, &named.collect());
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn a_name_that_is_nowhere_and_one_that_leaks_are_found() {
    let said = |code: &str, page: &str| {
        let file = |path: &str, text: &str| File {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        let files = [
            file(
                "src/lib.rs",
                "pub use self::{a::Face, b::{Part as Piece, free}};",
            ),
            file("src/internal.rs", "mod shared { pub use crate::c::Inner; }"),
            file("src/a.rs", code),
        ];
        violations(&files, &words_of_page(page)).join("\n")
    };
    let all = "pub struct Face { pub piece: Piece }";
    let unknown = |name| {
        format!(
            "{name}: neither the guide nor a signature of what it names has it: src/internal.rs"
        )
    };
    let leak = "Inner is internal, but Face has it in a signature";
    assert_eq!(said(all, "`Face`, `free()`"), "");
    assert_eq!(said(all, "```rust\nfree(Face)\n```"), "");
    assert_eq!(said(all, "`Face`, free"), unknown("free"));
    assert_eq!(
        said("pub struct Face { piece: Piece }", "`Face` `free`"),
        unknown("Piece")
    );
    for member in [
        "pub fn f(&self) -> Vec<Inner> {}",
        "#[inline]\n pub fn f(&self, inner: impl Fn(&Inner)) {}",
    ] {
        let code = |hidden| format!("{all} impl Face {{ {hidden} {member} }}");
        assert_eq!(said(&code(""), "`Face` `free`"), leak);
        assert_eq!(said(&code("#[doc(hidden)]"), "`Face` `free`"), "");
    }
    let code = format!("{all} impl Face {{ fn f(&self) -> Inner {{}} }}");
    assert_eq!(said(&code, "`Face` `free`"), "");
    let code = format!("{all} impl Iterator for Face {{ type Item = Inner; }}");
    assert_eq!(said(&code, "`Face` `free`"), leak);
    assert_eq!(
        said(
            "pub enum Face { A(Piece), B { inner: Inner } }",
            "`Face` `free`"
        ),
        leak
    );
}
