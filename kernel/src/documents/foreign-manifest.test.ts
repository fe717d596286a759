import { expect, test } from "vitest";
import { isForeignManifest } from "./foreign-manifest.ts";

test.each([
  ["Zed", { id: "gleam", name: "Gleam", version: "0.0.1", schema_version: 1 }],
  ["Firebase", { name: "resize-images", version: "0.2.0", specVersion: "v1beta" }],
  ["Dynatrace", { name: "custom:one", version: "1.0.0", minDynatraceVersion: "1.213" }],
  ["Omniverse Kit", { package: { version: "1.0.0", title: "One" }, dependencies: {} }],
])("a manifest of %s is another product's, and none of ours once it has our table", (_, manifest) => {
  expect(isForeignManifest(manifest)).toBe(true);
  expect(isForeignManifest({ ...manifest, extension: null })).toBe(false);
});

test.each([
  ["nothing", null],
  ["an empty document", {}],
  ["a list", ["schema_version"]],
  ["a manifest without its table", { id: "dev.example.one", name: "One", version: "1.0.0" }],
  ["a misspelt table", { extensio: { id: "dev.example.one" } }],
])("%s is a faulty one of ours", (_, value) => {
  expect(isForeignManifest(value)).toBe(false);
});
