import { expect, test, vi } from "vitest";
import { EntryNode, EntryTree, noMetadata } from "./tree.ts";

test("adding or removing a tag changes the index of that tag alone", () => {
  const tree = new EntryTree();
  const node = new EntryNode("1", "a.txt", "file", {
    size: 0,
    mtimeMs: 0,
    birthtimeMs: 0,
    inode: 1,
    device: 1,
  });
  const tags = Array.from({ length: 256 }, (_, at) => `tag-${at}`);
  tree.setMetadata(node, { ...noMetadata, tags });
  const touched = [vi.spyOn(tree.byTag, "add"), vi.spyOn(tree.byTag, "delete")];
  tree.setMetadata(node, { ...noMetadata, tags: [...tags.slice(1), "more"] });
  expect(touched.flatMap(({ mock }) => mock.calls.map(([tag]) => tag))).toEqual(["more", "tag-0"]);
  expect(tree.byTag.get("tag-0")).toEqual([]);
  expect(tree.byTag.get("tag-1")).toEqual([node]);
  expect(tree.byTag.get("more")).toEqual([node]);
});
