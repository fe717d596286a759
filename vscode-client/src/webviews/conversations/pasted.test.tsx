import { renderToString } from "preact-render-to-string";
import { expect, it } from "vitest";
import { base64Of, gif, png } from "../../../../test/support/pictures.ts";
import { Chips } from "./chips.tsx";
import { keptOf } from "./kept.ts";
import type { Attached } from "./messages.ts";
import { addressOf, type Picture, pictureOf, picturesIn, readPictures, withPictures } from "./pasted.ts";

const megabyte = 1024 * 1024;
const picture = (bytes: Uint8Array, name = "shot.png"): Picture => {
  const made = pictureOf(name, bytes);
  if (typeof made === "string") throw new Error(made);
  return made;
};
const nothing = (): void => undefined;

it("a picture is what its first bytes say, whatever its name and type", () => {
  expect(pictureOf("shot.png", gif(3, 4))).toEqual({
    kind: "picture",
    name: "shot.png",
    mediaType: "image/gif",
    base64: base64Of(gif(3, 4)),
  });
  const large = png(2, 2, 3 * megabyte);
  expect(picture(large).base64).toBe(base64Of(large));
  expect(pictureOf("a.svg", new TextEncoder().encode('<svg onload="x"/>'))).toMatch(/PNG, JPEG, GIF or WebP/);
  expect(pictureOf("b.png", png(60_000, 2))).toMatch(/60000 × 2 pixels/);
});

it("of what is pasted or dropped, pictures alone are read, and none that is too large", async () => {
  const files = [
    new File([new Uint8Array(png(5, 5))], "one.png", { type: "image/png" }),
    new File(["text"], "two.txt", { type: "text/plain" }),
    new File([new Uint8Array(5 * megabyte)], "three.png", { type: "image/png" }),
    new File(["<svg/>"], "four.svg", { type: "image/svg+xml" }),
  ];
  expect(picturesIn(null)).toEqual([]);
  const found = picturesIn({ files: files as unknown as FileList });
  expect(await readPictures(found)).toEqual([
    picture(png(5, 5), "one.png"),
    "A picture has at most 3.75 MB.",
    expect.stringContaining("not a picture") as string,
  ]);
});

it("a message takes as many pictures as the kernel, and says why not more", () => {
  const file: Attached = { kind: "file", path: "a.md" };
  const nine = Array.from({ length: 9 }, (_, index) => picture(png(4, 4, 100, index)));
  const many = withPictures([file], nine);
  expect(many.attached).toEqual([file, ...nine.slice(0, 8)]);
  expect(many.refusal).toBe("A message holds at most 8 pictures.");
  const large = withPictures([], [picture(png(4, 4, 3.5 * megabyte)), picture(png(5, 5, 3.5 * megabyte))]);
  expect([large.attached.length, large.refusal]).toEqual([1, expect.stringContaining("6 MB")]);
  expect(withPictures([file], ["No."])).toEqual({ attached: [file], refusal: "No." });
});

it("a thumbnail is drawn from the picture's own bytes, and one of many pixels is named", () => {
  const small = picture(png(640, 480));
  const html = renderToString(<Chips attached={[small, picture(png(8_000, 10))]} onRemove={nothing} />);
  expect(html.match(/<img[^>]*>/g)).toHaveLength(1);
  expect(html).toContain(`src="data:image/png;base64,${small.base64}"`);
  expect(html).not.toMatch(/https?:|blob:|vscode-/);
});

it("what is not what it says it is, is not drawn", () => {
  const odd = { ...picture(gif(3, 3)), mediaType: "image/png" as const };
  expect(addressOf(odd)).toBeNull();
  expect(addressOf({ ...odd, base64: "%%%" })).toBeNull();
  expect(addressOf({ ...odd, base64: btoa("<svg/>") })).toBeNull();
});

it("a draft is kept without its pictures", () => {
  const file: Attached = { kind: "file", path: "a.md" };
  const drafts = [{ id: "c1", text: "Look", attached: [picture(png(5, 5)), file] }];
  expect(keptOf({ id: "c1", drafts })).toEqual({
    id: "c1",
    drafts: [{ id: "c1", text: "Look", attached: [file] }],
  });
});
