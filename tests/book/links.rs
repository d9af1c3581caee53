//! Tests of links between the pages of the guide and other documents of the project.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::{docs, page, pages};

/// Returns the lines of a page outside of code blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        !inside && !fence
    })
}

/// Returns the targets of all links on a page.
fn targets(text: &str) -> Vec<String> {
    let links = prose(text).flat_map(|line| line.split("](").skip(1));
    links.filter_map(|rest| rest.split(')').next()).map(str::to_owned).collect()
}

/// Returns the anchors of the headings on a page: in lower case, with hyphens for blanks, and without punctuation.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let kept = |c: char| c.is_alphanumeric() || c == '-' || c == '_' || c == ' ';
    headings
        .map(|heading| heading.to_lowercase().chars().filter(|&c| kept(c)).collect::<String>().replace(' ', "-"))
        .collect()
}

/// Returns the paths of all documents of the project: pages of the guide, and pages in other folders, such as README
/// files.
fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found: Vec<PathBuf> =
        ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "inputs/README.md", "examples/README.md"]
            .map(|name| root.join(name))
            .into();
    let folders = std::fs::read_dir(root.join("validation")).unwrap().map(|entry| entry.unwrap().path());
    found.extend(
        folders
            .map(|folder| if folder.is_dir() { folder.join("README.md") } else { folder })
            .filter(|path| path.extension().is_some_and(|extension| extension == "md") && path.exists()),
    );
    found.extend(pages());
    found
}

#[test]
fn links_lead_to_files_and_headings() {
    let (mut faults, mut count) = (vec![], 0);
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        for target in targets(&text).into_iter().filter(|target| !target.starts_with("http")) {
            count += 1;
            let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let path = if file.is_empty() { document.clone() } else { document.parent().unwrap().join(file) };
            let found = path.exists()
                && (anchor.is_empty()
                    || std::fs::read_to_string(&path).is_ok_and(|text| anchors(&text).contains(anchor)));
            if !found {
                faults.push(format!("{}: {target}", document.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count > 50, "{count} links");
    assert_eq!(targets("[a](b.md#c) `x` [d](e)\n```\n[f](g)\n```"), ["b.md#c", "e"]);
    assert!(anchors("## What `md` does, and *how*\n").contains("what-md-does-and-how"));
}

#[test]
fn the_summary_lists_every_page() {
    let listed: BTreeSet<String> = targets(&page("SUMMARY.md")).into_iter().collect();
    let relative = |path: PathBuf| path.strip_prefix(docs()).unwrap().to_string_lossy().into_owned();
    let pages: BTreeSet<String> = pages().into_iter().map(relative).collect();
    let unlisted: Vec<_> = pages.difference(&listed).filter(|name| *name != "SUMMARY.md").collect();
    assert!(unlisted.is_empty(), "{unlisted:?}");
    let untitled: Vec<_> = listed.iter().filter(|name| !page(name).starts_with("# ")).collect();
    assert!(untitled.is_empty(), "pages without a title: {untitled:?}");
    assert!(listed.contains("methods/leapfrog.md") && pages.contains("methods/leapfrog.md"), "pages in folders count");
}
