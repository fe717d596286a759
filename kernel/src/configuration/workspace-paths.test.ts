import { describe, expect, it } from "vitest";
import { namedRoots, pathMapper } from "./workspace-paths.ts";

describe("from absolute paths to the workspace's", () => {
  const check = (name: string, roots: string[], absolute: string, expected: string[]): void =>
    it(name, () => expect(pathMapper(namedRoots(roots))(absolute)).toEqual(expected));

  check("inside", ["/w"], "/w/a/b", ["a/b"]);
  check("the root itself", ["/w"], "/w", ["."]);
  check("outside", ["/w"], "/v/a", []);
  check("above", ["/w/x"], "/w", []);
  check("beside, with a name that begins alike", ["/w"], "/w2/a", []);
  check("a folder whose name begins with two dots is inside", ["/w"], "/w/..tools/agent.ts", [
    "..tools/agent.ts",
  ]);
  check("of several roots, by the root's name", ["/w/one", "/w/two"], "/w/two/a", ["two/a"]);
  check("roots inside each other: every path counts", ["/w", "/w/sub"], "/w/sub/a", ["w/sub/a", "sub/a"]);
});

it("two roots with the same name are distinguished", () => {
  expect(namedRoots(["/a/photos", "/b/photos"]).map(({ name }) => name)).toEqual(["photos", "photos-2"]);
});
