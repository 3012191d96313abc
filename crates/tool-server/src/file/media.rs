//! What a file's name says about its content.

/// Whether a file may be called an image by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Media {
    /// No: it was written as text.
    Text,
    /// Yes.
    Any,
}

/// Media types by extension, in lower case.
const TYPES: &[(&str, &str)] = &[
    ("bmp", "image/bmp"),
    ("bz2", "application/x-bzip2"),
    ("c", "text/x-c"),
    ("cpp", "text/x-c++"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("doc", "application/msword"),
    (
        "docx",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ),
    ("gif", "image/gif"),
    ("go", "text/x-go"),
    ("gz", "application/gzip"),
    ("h", "text/x-c"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("ico", "image/vnd.microsoft.icon"),
    ("java", "text/x-java"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("md", "text/markdown"),
    ("mjs", "text/javascript"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    (
        "pptx",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ),
    ("py", "text/x-python"),
    ("rs", "text/x-rust"),
    ("sh", "application/x-sh"),
    ("svg", "image/svg+xml"),
    ("tar", "application/x-tar"),
    ("tif", "image/tiff"),
    ("tiff", "image/tiff"),
    ("toml", "application/toml"),
    ("ts", "text/x-typescript"),
    ("tsv", "text/tab-separated-values"),
    ("txt", "text/plain"),
    ("wav", "audio/wav"),
    ("webm", "video/webm"),
    ("webp", "image/webp"),
    ("xls", "application/vnd.ms-excel"),
    (
        "xlsx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ),
    ("xml", "text/xml"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("zip", "application/zip"),
];

impl Media {
    /// Returns `image` or `file`.
    pub(super) fn kind(self, name: &str) -> &'static str {
        let is_image = || mime_type(name).is_some_and(|known| known.starts_with("image/"));
        if self == Self::Any && is_image() {
            "image"
        } else {
            "file"
        }
    }
}

/// Returns the media type that a file's extension stands for, if it is a usual one.
pub(super) fn mime_type(name: &str) -> Option<&'static str> {
    let (stem, extension) = name.rsplit_once('.')?;
    let extension = extension.to_ascii_lowercase();
    let known = TYPES.iter().find(|(known, _)| *known == extension)?;
    (!stem.is_empty()).then_some(known.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_a_file_holds() {
        let check = |name: &str, mime: Option<&str>, kind: &str| {
            assert_eq!(mime_type(name), mime, "{name}");
            assert_eq!(Media::Any.kind(name), kind, "{name}");
            assert_eq!(Media::Text.kind(name), "file");
        };
        check("a.txt", Some("text/plain"), "file");
        check("a.tar.GZ", Some("application/gzip"), "file");
        check("Photo.JPG", Some("image/jpeg"), "image");
        check("a.svg", Some("image/svg+xml"), "image");
        check(".png", None, "file");
        check("README", None, "file");
        check("a.unknown", None, "file");
    }

    #[test]
    fn the_table_is_sorted_and_holds_no_extension_twice() {
        assert!(TYPES.is_sorted_by(|one, two| one.0 < two.0));
    }
}
