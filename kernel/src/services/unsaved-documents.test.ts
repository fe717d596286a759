import { expect, test } from "vitest";
import { UnsavedDocuments } from "./unsaved-documents.ts";

const files = { pathsOf: async (uri: string) => [uri.replace("file:///w/", ""), `other name of ${uri}`] };

test("unsaved changes of any door's client count, under each name of the file, until the client leaves", async () => {
  const documents = new UnsavedDocuments(files);
  const idle = { compared: async () => undefined, unsaved: () => [] };
  const busy = { compared: async () => undefined, unsaved: () => ["file:///w/a.md"] };
  using _idle = documents.add(idle);
  const leaving = documents.add(busy);
  expect(await documents.among(["b.md", "a.md"])).toBe("a.md");
  expect(await documents.among(["other name of file:///w/a.md"])).not.toBeNull();
  expect(await documents.among(["b.md"])).toBeNull();
  leaving[Symbol.dispose]();
  expect(await documents.among(["a.md"])).toBeNull();
});

test("what one client changes while another one's documents are compared counts", async () => {
  const documents = new UnsavedDocuments(files);
  const slow = Promise.withResolvers<void>();
  let unsaved: string[] = [];
  documents.add({ compared: async () => undefined, unsaved: () => unsaved });
  documents.add({ compared: () => slow.promise, unsaved: () => [] });
  const found = documents.among(["a.md"]);
  unsaved = ["file:///w/a.md"];
  slow.resolve();
  expect(await found).toBe("a.md");
});

test("concurrent requests share a comparison that begins after them", async () => {
  const documents = new UnsavedDocuments(files);
  let comparisons = 0;
  const end = Promise.withResolvers<void>();
  documents.add({
    compared: async () => {
      comparisons++;
      await end.promise;
    },
    unsaved: () => [],
  });
  const asked = Array.from({ length: 50 }, () => documents.among(["a.md"]));
  end.resolve();
  await Promise.all(asked);
  expect(comparisons).toBe(2);
});
