import { beforeEach, describe, expect, it } from "vitest";
import { fakeContext } from "../testing/context.ts";
import { action, effect } from "../testing/things.ts";
import { files, seen, Uri, workspace } from "../testing/vscode.ts";
import { maxPictureBytes, pictureOf, pictureType } from "./review-pictures.ts";

const png = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

beforeEach(() => {
  seen.forget();
  workspace.workspaceFolders = [{ uri: Uri.file("/w"), name: "w", index: 0 }];
});

it.each<[string, string | readonly number[], string | undefined]>([
  ["a picture", png, "image/png"],
  ["a drawing that is a document with scripts", '<svg xmlns="http://www.w3.org/2000/svg"/>', undefined],
  ["a page", "<!doctype html>", undefined],
  ["nothing", "", undefined],
  ["a beginning cut short", png.slice(0, 4), undefined],
])("%s is taken for what its bytes are", (_name, content, type) => {
  const bytes = typeof content === "string" ? Buffer.from(content) : Uint8Array.from(content);
  expect(pictureType(bytes)).toBe(type);
});

describe("a card's picture", () => {
  const given = (content: Uint8Array, sides: string[] = []) =>
    fakeContext({
      "lares/actions/content": ({
        side,
        offset,
        length,
      }: {
        side: string;
        offset: number;
        length: number;
      }) => {
        sides.push(side);
        return {
          base64: Buffer.from(content.subarray(offset, offset + length)).toString("base64"),
          eof: offset + length >= content.length,
        };
      },
    }).context;

  it("of a file that would be deleted is the current one", async () => {
    const sides: string[] = [];
    const gone = action({ effects: [effect({ kind: "file.delete", path: "a.png", after: null })] });
    expect(await pictureOf(given(Uint8Array.from(png), sides), gone, 0)).toMatchObject({ bytes: png.length });
    expect(sides).toEqual(["before"]);
  });

  it("is missing if it is too large, not a picture whatever its name, or there is no such effect", async () => {
    const large = new Uint8Array(maxPictureBytes + 1);
    large.set(png);
    const written = action({ effects: [effect({ kind: "file.write", path: "a.png", before: null })] });
    expect(await pictureOf(given(large), written, 0)).toEqual({});
    expect(await pictureOf(given(Buffer.from("<svg/>")), written, 0)).toEqual({});
    expect(await pictureOf(given(Uint8Array.from(png)), written, 1)).toEqual({});
  });

  const move = effect({ kind: "file.move", from: "old.png", path: "new.png" });
  it.each([
    ["waits", "PendingApproval", "old.png"],
    ["was applied", "Committed", "new.png"],
    ["was undone", "Undone", "old.png"],
  ] as const)("of a move that %s is where the file is", async (_name, state, path) => {
    files.set(Uri.file(`/w/${path}`).toString(), Uint8Array.from(png));
    expect(await pictureOf(given(new Uint8Array()), action({ state, effects: [move] }), 0)).toMatchObject({
      bytes: png.length,
    });
  });

  it("is missing if the file was removed meanwhile, or the path leaves the workspace", async () => {
    const context = given(new Uint8Array());
    expect(await pictureOf(context, action({ effects: [move] }), 0)).toEqual({});
    const outside = effect({ kind: "file.move", from: "../secret.png", path: "b.png" });
    files.set(Uri.file("/secret.png").toString(), Uint8Array.from(png));
    files.set("file:///w/../secret.png", Uint8Array.from(png));
    expect(await pictureOf(context, action({ effects: [outside] }), 0)).toEqual({});
  });
});
