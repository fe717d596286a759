import type { Media } from "../base/vocabulary/entry.ts";

/** "extension,extension mime", grouped by what people call the content. */
const table: Readonly<Record<Media, string>> = {
  image: `jpg,jpeg,jpe,jfif image/jpeg|png image/png|apng image/apng|gif image/gif|webp image/webp|svg image/svg+xml
    |bmp image/bmp|tif,tiff image/tiff|ico image/vnd.microsoft.icon|heic image/heic|heif image/heif|avif image/avif
    |jxl image/jxl|jp2 image/jp2|psd image/vnd.adobe.photoshop|raw image/x-raw|dng image/x-adobe-dng
    |cr2 image/x-canon-cr2|cr3 image/x-canon-cr3|nef image/x-nikon-nef|arw image/x-sony-arw|raf image/x-fuji-raf
    |orf image/x-olympus-orf|rw2 image/x-panasonic-rw2|exr image/x-exr|xcf image/x-xcf`,
  video: `mp4,m4v video/mp4|mov,qt video/quicktime|webm video/webm|mkv video/x-matroska|avi video/x-msvideo
    |mpg,mpeg video/mpeg|wmv video/x-ms-wmv|flv video/x-flv|ogv video/ogg|3gp video/3gpp|m2ts,mts video/mp2t`,
  audio: `mp3 audio/mpeg|m4a audio/mp4|aac audio/aac|wav audio/wav|flac audio/flac|ogg,oga audio/ogg|opus audio/opus
    |wma audio/x-ms-wma|aif,aiff audio/aiff|mid,midi audio/midi|amr audio/amr|weba audio/webm`,
  document: `pdf application/pdf|doc application/msword|xls application/vnd.ms-excel|ppt application/vnd.ms-powerpoint
    |docx application/vnd.openxmlformats-officedocument.wordprocessingml.document
    |xlsx application/vnd.openxmlformats-officedocument.spreadsheetml.sheet
    |pptx application/vnd.openxmlformats-officedocument.presentationml.presentation
    |odt application/vnd.oasis.opendocument.text|ods application/vnd.oasis.opendocument.spreadsheet
    |odp application/vnd.oasis.opendocument.presentation|rtf application/rtf|epub application/epub+zip
    |mobi application/x-mobipocket-ebook|djvu image/vnd.djvu|ps application/postscript|pages application/vnd.apple.pages
    |numbers application/vnd.apple.numbers|key application/vnd.apple.keynote|ipynb application/x-ipynb+json
    |tex application/x-tex|msg application/vnd.ms-outlook|eml message/rfc822`,
  text: `txt,text,log text/plain|md,markdown text/markdown|mdx text/mdx|rst text/x-rst|adoc text/asciidoc|org text/org
    |csv text/csv|tsv text/tab-separated-values|html,htm text/html|xhtml application/xhtml+xml|css text/css
    |scss text/x-scss|less text/x-less|js,mjs,cjs text/javascript|jsx text/jsx|ts,mts,cts text/typescript|tsx text/tsx
    |json application/json|json5 application/json5|jsonl,ndjson application/x-ndjson|geojson application/geo+json
    |yaml,yml application/yaml|toml application/toml|xml application/xml|ini,cfg,conf text/plain|env text/plain
    |properties text/x-java-properties|sh,bash,zsh application/x-sh|ps1 text/x-powershell|bat,cmd text/x-bat
    |py text/x-python|rb text/x-ruby|rs text/x-rust|go text/x-go|java text/x-java|kt,kts text/x-kotlin|swift text/x-swift
    |c,h text/x-c|cc,cpp,cxx,hpp text/x-c++|cs text/x-csharp|php application/x-httpd-php|pl text/x-perl|lua text/x-lua
    |r text/x-r|sql application/sql|graphql,gql application/graphql|proto text/x-protobuf|vue text/x-vue
    |svelte text/x-svelte|diff,patch text/x-diff|ics text/calendar|vcf text/vcard|srt application/x-subrip|vtt text/vtt
    |bib text/x-bibtex|gpx application/gpx+xml|kml application/vnd.google-earth.kml+xml|tf text/x-terraform`,
  other: `zip application/zip|gz application/gzip|tar application/x-tar|tgz application/gzip|bz2 application/x-bzip2
    |xz application/x-xz|zst application/zstd|7z application/x-7z-compressed|rar application/vnd.rar
    |jar application/java-archive|wasm application/wasm|sqlite,db application/vnd.sqlite3|parquet application/vnd.apache.parquet
    |onnx application/octet-stream|ttf font/ttf|otf font/otf|woff font/woff|woff2 font/woff2
    |exe application/vnd.microsoft.portable-executable|dmg application/x-apple-diskimage|iso application/x-iso9660-image
    |deb application/vnd.debian.binary-package|apk application/vnd.android.package-archive|stl model/stl|obj model/obj
    |glb model/gltf-binary|gltf model/gltf+json|torrent application/x-bittorrent`,
};

interface MediaType {
  readonly media: Media;
  readonly mime: string;
}

const unknownType: MediaType = { media: "other", mime: "application/octet-stream" };
const folderType: MediaType = { media: "other", mime: "inode/directory" };

const byExtension = new Map<string, MediaType>();
for (const [media, types] of Object.entries(table)) {
  for (const type of types.split("|")) {
    const [extensions = "", mime = ""] = type.trim().split(" ");
    for (const extension of extensions.split(","))
      byExtension.set(extension, { media: media as Media, mime });
  }
}

/** Returns the extension in lower case without the dot; empty if none. A leading dot does not begin an extension. */
export function extensionOf(name: string): string {
  const dot = name.lastIndexOf(".");
  return dot <= 0 ? "" : name.slice(dot + 1).toLowerCase();
}

/** Returns the type by the extension alone, because the index does not read contents for this. */
export function mediaTypeOf(kind: "file" | "folder", extension: string): MediaType {
  return kind === "folder" ? folderType : (byExtension.get(extension) ?? unknownType);
}
