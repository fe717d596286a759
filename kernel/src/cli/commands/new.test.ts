import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { describe, expect, it } from "vitest";
import { testShell } from "../testing/test-shell.ts";

const shell = testShell();
const { lares } = shell;

describe("new", () => {
  it("writes a complete extension, and never overwrites another", async () => {
    const target = join(shell.folder, "note-titles");
    expect(await lares(["new", target, "--id", "com.example.note-titles"])).toBe(0);
    const files = (await readdir(target)).filter((name) => name !== ".lares");
    expect(files.toSorted()).toEqual([
      "README.md",
      "agent.ts",
      "extension.yaml",
      "title.test.ts",
      "title.ts",
    ]);
    const texts = await Promise.all(files.map((file) => readFile(join(target, file), "utf8")));
    expect(texts.join("")).not.toMatch(/\{\{\w+\}\}/);
    const manifest = await readFile(join(target, "extension.yaml"), "utf8");
    expect(manifest).toContain("id: com.example.note-titles");
    const schema = /^# yaml-language-server: \$schema=(\S+)\n/.exec(manifest)?.[1] ?? "";
    const published = JSON.parse(await readFile(join(target, schema), "utf8")) as object;
    expect(published).toHaveProperty("$schema", "http://json-schema.org/draft-07/schema#");
    expect(await lares(["new", target])).toBe(2);
    expect(shell.errors).toContain("exists already");
  });

  it("writes a mind without code, with its folders", async () => {
    const target = join(shell.folder, ".lares", "extensions", "notes-keeper");
    expect(await lares(["new", target, "--template", "mind"])).toBe(0);
    const files = (await readdir(target, { recursive: true })).filter((name) => name.endsWith(".md"));
    expect(files.toSorted()).toEqual([
      "README.md",
      "SOUL.md",
      "prompts/monday.md",
      "skills/weekly-review/SKILL.md",
    ]);
    const manifest = await readFile(join(target, "extension.yaml"), "utf8");
    expect(manifest).toContain("id: local.notes-keeper");
    expect(shell.output).toContain("lares chat local.notes-keeper");
  });

  it.each([
    ["go", ["Makefile", "agent.go", "agent_test.go", "go.mod", "guest.go"]],
    ["c", ["Makefile", "agent.c", "agent.h", "agent_test.c", "guest.c", "guest.h", "json.c", "json.h"]],
    ["rust", ["Cargo.toml", "Makefile", "src/agent.rs", "src/guest.rs", "src/json.rs", "src/main.rs"]],
    [
      "assemblyscript",
      [
        "asconfig.json",
        ...["agent.ts", "guest.ts", "index.ts", "json.ts", "tsconfig.json", "wasi.ts"].map(
          (name) => `assembly/${name}`,
        ),
        "package.json",
        "test/agent.test.js",
      ],
    ],
  ])("writes an extension in %s, and says how to build and try it", async (language, sources) => {
    const target = join(shell.folder, "note-tags");
    expect(await lares(["new", target, "--template", language])).toBe(0);
    const found = await readdir(target, { recursive: true, withFileTypes: true });
    const files = found
      .filter((entry) => entry.isFile() && !entry.parentPath.includes(".lares"))
      .map((entry) => relative(target, join(entry.parentPath, entry.name)).split(sep).join("/"));
    expect(files.toSorted()).toEqual([...sources, "README.md", "extension.yaml"].toSorted());
    const texts = await Promise.all(files.map((file) => readFile(join(target, file), "utf8")));
    expect(texts.join("")).not.toMatch(/\{\{\w+\}\}/);
    expect(shell.output).toMatch(/Build it: .+(make|npm run build)\n/);
    expect(shell.output).toContain("lares conformance ");
  });

  it.each([
    ["cobol", 'no template "cobol". Use one of ts, mind, assemblyscript, c, go, rust.'],
    ["../templates/extension-c", "is a path, and a template is chosen by its name. Use one of ts, mind,"],
    ["extension-c\\..", "is a path"],
    ["__proto__", 'no template "__proto__"'],
  ])("--template %s is refused in a sentence, and nothing is written", async (language, sentence) => {
    expect(await lares(["new", join(shell.folder, "notes"), "--template", language])).toBe(2);
    expect(shell.errors).toContain(sentence);
    expect(await readdir(shell.folder)).toEqual([]);
  });
});
