//! Checks the number of attributes of every element before an XML file is parsed. The number of attributes is limited,
//! because the XML library compares each attribute with all other attributes of the element.

use super::Parsed;
use crate::error::Problem;

/// Largest number of attributes of an element. A `LocalCoordinatesSite` has four attributes for each of its few
/// particles, and other elements have fewer than twenty attributes.
const MOST_ATTRIBUTES: usize = 256;

/// Start and end of the kinds of text in which `<` does not begin an element: comments, character data and processing
/// instructions.
const SKIPPED: [(&[u8], &[u8]); 3] = [(b"<!--", b"-->"), (b"<![CDATA[", b"]]>"), (b"<?", b"?>")];

/// Fails at the first element with too many attributes. The check accepts text that is not XML, because the parser
/// refuses such text later.
pub(super) fn check(text: &[u8]) -> Parsed<()> {
    let mut at = 0;
    while let Some(start) = find(text, at, b"<") {
        let rest = &text[start..];
        if let Some((begin, end)) = SKIPPED.iter().find(|(begin, _)| rest.starts_with(begin)) {
            let Some(found) = find(text, start + begin.len(), end) else { return Ok(()) };
            at = found + end.len();
            continue;
        }
        let (mut quote, mut attributes) = (None, 0);
        let end = rest.iter().position(|&byte| {
            match quote {
                Some(open) if byte == open => quote = None,
                None if matches!(byte, b'"' | b'\'') => quote = Some(byte),
                None => attributes += usize::from(byte == b'='),
                Some(_) => {}
            }
            attributes > MOST_ATTRIBUTES || (quote.is_none() && byte == b'>')
        });
        if attributes > MOST_ATTRIBUTES {
            let name = rest[1..].split(|byte| byte.is_ascii_whitespace()).next().unwrap_or_default();
            let name = crate::format::number::quoted(name);
            let message = format!("the element {name} has more than {MOST_ATTRIBUTES} attributes");
            let line = 1 + text[..start].iter().filter(|&&byte| byte == b'\n').count();
            let help = "write the file again with OpenMM; md reads virtual sites of at most 63 particles";
            return Err(Problem::new(message).at_line(line).help(help));
        }
        let Some(end) = end else { return Ok(()) };
        at = start + end;
    }
    Ok(())
}

/// Returns the position of the next occurrence of `wanted` from `at` on.
fn find(text: &[u8], at: usize, wanted: &[u8]) -> Option<usize> {
    text[at..].windows(wanted.len()).position(|window| window == wanted).map(|place| at + place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(attributes: usize) -> String {
        let attributes: Vec<String> = (0..attributes).map(|k| format!("a{k}='=\"=<>'")).collect();
        format!("<System\n>\n<Site {}/></System>", attributes.join(" "))
    }

    #[test]
    fn elements_with_too_many_attributes_are_refused_with_their_line() {
        assert_eq!(check(element(256).as_bytes()), Ok(()));
        let problem = check(element(257).as_bytes()).unwrap_err();
        assert_eq!(problem.line, Some(3));
        assert!(problem.message.contains("`Site` has more than 256 attributes"), "{problem}");
    }

    #[test]
    fn what_is_no_element_is_not_counted() {
        let many = "a=".repeat(300);
        for text in [format!("<!-- < {many} --><a/>"), format!("<![CDATA[<{many}]]>"), format!("<?xml {many}?>"), many]
        {
            assert_eq!(check(text.as_bytes()), Ok(()));
        }
        for cut in ["<", "<!--", "<a b='", "<?", "<a b='c'"] {
            assert_eq!(check(cut.as_bytes()), Ok(()));
        }
    }
}
