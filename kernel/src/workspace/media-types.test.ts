import { expect, it } from "vitest";
import { entryOf } from "./entry.ts";
import { extensionOf, mediaTypeOf } from "./media-types.ts";
import { EntryNode } from "./tree.ts";

for (const [name, extension, media, mime] of [
  ["IMG_1.JPeG", "jpeg", "image", "image/jpeg"],
  ["notes.md", "md", "text", "text/markdown"],
  ["archive.tar.gz", "gz", "other", "application/gzip"],
  ["report.pdf", "pdf", "document", "application/pdf"],
  ["tone.wav", "wav", "audio", "audio/wav"],
  ["clip.mov", "mov", "video", "video/quicktime"],
  ["Makefile", "", "other", "application/octet-stream"],
  [".gitignore", "", "other", "application/octet-stream"],
  ["trailing.", "", "other", "application/octet-stream"],
  ["x.constructor", "constructor", "other", "application/octet-stream"],
] as const) {
  it(`takes ${name} for ${mime}`, () => {
    expect(extensionOf(name)).toBe(extension);
    expect(mediaTypeOf("file", extension)).toEqual({ media, mime });
  });
}

it("calls a folder with a dot in its name a folder", () => {
  const folder = new EntryNode("id", "photos.jpg", "folder", {
    size: 0,
    mtimeMs: 0,
    birthtimeMs: 0,
    inode: 0,
    device: 0,
  });
  expect(entryOf(folder)).toMatchObject({ extension: "", media: "other", mime: "inode/directory" });
});

for (const [ms, text] of [
  [0, "1970-01-01T00:00:00.000Z"],
  [1_700_000_000_007.999, "2023-11-14T22:13:20.007Z"],
  [-0.5, "1969-12-31T23:59:59.999Z"],
  [-62_135_596_800_000, "0001-01-01T00:00:00.000Z"],
] as const) {
  it(`writes the time ${ms} as ${text}`, () => {
    const node = new EntryNode("id", "a", "file", {
      size: 0,
      mtimeMs: ms,
      birthtimeMs: 0,
      inode: 0,
      device: 0,
    });
    expect(entryOf(node)).toMatchObject({ modified: text, created: text });
  });
}
