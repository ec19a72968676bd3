//! The files of the page. They are in the program, so that nothing has to be installed beside it.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use rust_embed::Embed;

use super::failure::Failure;
use super::given::InPath;

/// All files.
#[derive(Embed)]
#[folder = "page"]
struct Files;

/// The page.
pub async fn index() -> Response {
    answer("index.html").into_response()
}

/// A file of the page.
pub async fn file(InPath(name): InPath<String>) -> Response {
    answer(&name).into_response()
}

fn answer(name: &str) -> Result<Response, Failure> {
    let found = Files::get(name).ok_or_else(|| {
        Failure::new(
            StatusCode::NOT_FOUND,
            format!("the page has no file {name:?}"),
        )
    })?;
    let kind = match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    };
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    Ok((headers, found.data).into_response())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn text(name: &str) -> String {
        let file = Files::get(name).unwrap_or_else(|| panic!("there is no {name}"));
        String::from_utf8(file.data.into_owned()).unwrap()
    }

    /// The names in a text that stand between these.
    fn names(text: &str, before: &str, after: &str) -> Vec<String> {
        let parts = text.split(before).skip(1);
        let names = parts.filter_map(|part| part.split_once(after));
        names.map(|(name, _)| name.to_owned()).collect()
    }

    #[test]
    fn the_page_names_the_modules_of_the_first_screen() {
        let mut needed = BTreeSet::new();
        let mut waiting = vec!["main.js".to_owned()];
        while let Some(module) = waiting.pop() {
            waiting.extend(names(&text(&module), "from \"./", "\";"));
            needed.insert(module);
            waiting.retain(|module| !needed.contains(module));
        }
        let index = text("index.html");
        let named = names(&index, "rel=\"modulepreload\" href=\"app/", "\"").into_iter();
        let main = names(&index, "src=\"app/", "\"");
        let named: BTreeSet<String> = named.chain(main).collect();
        assert_eq!(named, needed);
        // The others are loaded with their views.
        assert!(Files::iter().any(|name| name == "tracksview.js" && !named.contains(&*name)));
    }
}
