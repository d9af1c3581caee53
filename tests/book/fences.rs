//! Fenced blocks of pages.

use std::path::{Path, PathBuf};

use crate::pages;

/// A fenced block: the page, the language that the fence names, the number of its first line, and its text.
pub(crate) struct Block {
    pub(crate) page: PathBuf,
    pub(crate) language: String,
    pub(crate) line: usize,
    pub(crate) text: String,
}

impl Block {
    /// Returns page and line of the block, for messages.
    pub(crate) fn place(&self) -> String {
        format!("{}:{}", self.page.display(), self.line)
    }
}

/// Returns the fenced blocks of a page in one of the languages.
pub(crate) fn blocks(page: &Path, text: &str, languages: &[&str]) -> Vec<Block> {
    let (mut found, mut open): (Vec<Block>, bool) = (vec![], false);
    for (index, line) in text.lines().enumerate() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            open = !open;
            if open {
                let language = language.trim().to_owned();
                found.push(Block { page: page.to_owned(), language, line: index + 2, text: String::new() });
            }
        } else if let Some(block) = found.last_mut().filter(|_| open) {
            block.text += line;
            block.text.push('\n');
        }
    }
    found.retain(|block| languages.contains(&&*block.language));
    found
}

/// Returns the blocks of the guide and of the README in one of the languages.
pub(crate) fn blocks_of_all_pages(languages: &[&str]) -> Vec<Block> {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let pages = pages().into_iter().chain([readme]);
    pages.flat_map(|page| blocks(&page, &std::fs::read_to_string(&page).unwrap(), languages)).collect()
}
