import { expect, test } from "vitest";
import { modelWords } from "./model-words.ts";

const faces = {
  name: "faces",
  source: { url: "https://models.example.com/faces.onnx?x=1", redirect_hosts: ["cdn.example.com"] },
  sha256: "a".repeat(64),
  size_mb: 12,
};

test("a person reads the hosts from which a model is downloaded, and how large it may be", () => {
  expect(modelWords(faces)).toBe(
    "faces, up to 12 MiB, downloaded from models.example.com and cdn.example.com",
  );
  expect(modelWords({ name: "old" })).toBe("old, which is not downloaded");
});

test("a person reads whose document names a model that the manifest does not have", () => {
  expect(modelWords({ ...faces, named_in: "workspace" })).toMatch(/, named in this workspace's lares\.yaml$/);
  expect(modelWords({ ...faces, named_in: "user" })).toMatch(/, named in your own lares\.yaml$/);
});

test("the host that is shown is the one that is reached, however the address is written", () => {
  const words = (url: string): string => modelWords({ ...faces, source: { url } });
  expect(words("https://good.example\\\\@evil.example/")).toContain("from good.example");
  expect(words("https://evil.ex\tample:8443/")).toContain('from "evil.example:8443"');
  expect(words("https://user@evil.example/")).toContain("is not downloaded");
});

test("a name cannot pass for a part of the sentence", () => {
  expect(modelWords({ ...faces, name: "faces, up to 1 MiB" })).toContain(
    '"faces, up to 1 MiB", up to 12 MiB',
  );
});
