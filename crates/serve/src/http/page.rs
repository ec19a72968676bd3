//! The files of the page. They are in the program, so that nothing has to be installed beside it.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use rust_embed::Embed;

use super::bundle;
use super::extractors::InPath;
use super::failure::RequestFailure;

/// All files.
#[derive(Embed)]
#[folder = "page"]
struct Files;

/// The name of the file with all modules.
const PAGE: &str = "page.js";

/// The name of the file with all style sheets, and these, in order.
const STYLE: &str = "page.css";
const STYLES: [&str; 3] = ["shell/style.css", "views/views.css", "views/latency.css"];

/// All modules of the page.
static MODULES: LazyLock<Result<String, String>> =
    LazyLock::new(|| bundle::bundle("main.js", &text));

fn text(name: &str) -> Option<String> {
    let file = Files::get(name)?;
    String::from_utf8(file.data.into_owned()).ok()
}

/// The page.
pub async fn index(headers: HeaderMap) -> Response {
    answer("index.html", &headers).into_response()
}

/// A file of the page.
pub async fn file(InPath(name): InPath<String>, headers: HeaderMap) -> Response {
    answer(&name, &headers).into_response()
}

fn data(name: &str) -> Result<Cow<'static, [u8]>, RequestFailure> {
    if name == PAGE {
        let modules = MODULES.as_ref();
        let text = modules.map_err(|wrong| {
            RequestFailure::new(StatusCode::INTERNAL_SERVER_ERROR, wrong.clone())
        })?;
        return Ok(Cow::Borrowed(text.as_bytes()));
    }
    if name == STYLE {
        let sheets = STYLES.iter().filter_map(|sheet| text(sheet));
        return Ok(Cow::Owned(sheets.collect::<String>().into_bytes()));
    }
    let found = Files::get(name).ok_or_else(|| {
        RequestFailure::new(
            StatusCode::NOT_FOUND,
            format!("the page has no file {name:?}"),
        )
    })?;
    Ok(found.data)
}

fn answer(name: &str, asked: &HeaderMap) -> Result<Response, RequestFailure> {
    let data = data(name)?;
    let kind = match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        _ => "application/octet-stream",
    };
    let mut hasher = DefaultHasher::new();
    data.hash(&mut hasher);
    let tag = format!("W/\"{:016x}\"", hasher.finish());
    let headers = [
        (header::CONTENT_TYPE, kind),
        // The browser keeps it, and asks each time whether it is still the same.
        (header::CACHE_CONTROL, "no-cache"),
        (header::ETAG, &tag),
    ];
    let known = asked.get(header::IF_NONE_MATCH);
    if known.is_some_and(|known| known.as_bytes() == tag.as_bytes()) {
        return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
    }
    Ok((headers, data).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_style_sheets_become_one_file() {
        let style = String::from_utf8(data(STYLE).ok().unwrap().into_owned()).unwrap();
        let sheets = Files::iter().filter(|name| name.ends_with(".css"));
        for sheet in sheets {
            assert_eq!(style.matches(&text(&sheet).unwrap()).count(), 1, "{sheet}");
        }
        let links = format!("<link rel=\"stylesheet\" href=\"app/{STYLE}\">");
        assert_eq!(text("index.html").unwrap().matches("stylesheet").count(), 1);
        assert!(text("index.html").unwrap().contains(&links));
    }

    #[test]
    fn the_modules_of_the_page_become_one_file() {
        let page = MODULES.as_ref().expect("modules that can be one file");
        let modules = Files::iter().filter(|name| name.ends_with(".js"));
        for module in modules {
            let made = format!("const {} = ", bundle::identifier(&module));
            assert_eq!(page.matches(&made).count(), 1, "{module}");
        }
        let is_left = |line: &str| line.starts_with("import ") || line.starts_with("export ");
        assert_eq!(page.lines().find(|line| is_left(line)), None);
        assert!(
            text("index.html")
                .unwrap()
                .contains(&format!("src=\"app/{PAGE}\""))
        );
    }
}
