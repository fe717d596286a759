import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aPerson, greeterId as id, greeterSources as sources } from "../support/package-person.ts";

/** What an editor asks the command line, so that a person decides in its windows: a dry run, and the digest they accepted. */

test("a dry run shows a package and changes nothing; only exactly that package is installed, and is allowed nothing", async () => {
  await using author = await aPerson();
  await author.json("keys", "new");
  const one = String((await author.json("pack", await author.write("one", sources("1.0.0"))))["file"]);
  const two = String((await author.json("pack", await author.write("two", sources("1.1.0"))))["file"]);
  await using friend = await aPerson();
  const before = await readFile(friend.bench.path("lares.yaml"), "utf8");

  const shown = await friend.json("install", one, "--dry-run");
  expect(shown).toMatchObject({
    offer: {
      id,
      version: "1.0.0",
      pinned: null,
      installed: null,
      permissions: ["read_entries", "propose_actions"],
    },
    document: { isNew: false },
  });
  const { sha256 } = shown["offer"] as { sha256: string };
  expect(await readFile(friend.bench.path("lares.yaml"), "utf8")).toBe(before);
  expect(await readdir(friend.bench.base)).not.toContain("config");

  const other = await friend.lares("install", two, "--accept", sha256, "--json");
  expect([other.code, other.stdout]).toEqual([1, ""]);
  expect(other.stderr).toMatch(/another one than you accepted/);
  const both = await friend.lares("install", one, "--accept", sha256, "--yes");
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("cannot be combined")]);
  expect((await friend.json("list"))["items"]).toEqual([]);

  expect(await friend.json("install", one, "--accept", sha256)).toMatchObject({
    id,
    allowed: false,
    state: null,
  });
  expect(await friend.json("list")).toMatchObject({
    items: [{ id, name: "Greeter", inUse: true, scope: "user", source: one }],
  });
  // It is asked for, not granted.
  const run = await friend.lares("run", "--once");
  expect([run.code, run.stderr]).toEqual([1, expect.stringContaining("You have not accepted this yet")]);
});

test("a dry run of update tells what is newer; an accepted update with the same requests keeps its permissions", async () => {
  await using author = await aPerson();
  await author.json("keys", "new");
  const place = await author.write("shop", {});
  const publish = async (version: string, more = ""): Promise<void> => {
    const packed = await author.json("pack", await author.write(version, sources(version, more)));
    await writeFile(join(place, "greeter.lares"), await readFile(String(packed["file"])));
  };
  await publish("1.0.0");
  await using friend = await aPerson();
  const file = join(place, "greeter.lares");
  await friend.json("install", file, "--yes", "--locations", "in");
  expect(await friend.json("update", "--dry-run")).toMatchObject({ items: [{ id, state: "current" }] });

  await publish("1.1.0");
  const { items } = (await friend.json("update", "--dry-run")) as {
    items: { state: string; to: string; offer: { sha256: string; more: string[] } }[];
  };
  expect(items).toMatchObject([{ id, state: "available", to: "1.1.0", offer: { more: [] } }]);
  expect(await friend.json("list")).toMatchObject({ items: [{ version: "1.0.0" }] });
  const unnamed = await friend.lares("update", "--accept", items[0]!.offer.sha256);
  expect([unnamed.code, unnamed.stderr]).toEqual([2, expect.stringContaining("Name the extension")]);
  expect(await friend.json("update", id, "--accept", items[0]!.offer.sha256)).toMatchObject({
    items: [{ state: "updated" }],
  });
  expect((await friend.lares("run", "--once")).code).toBe(0);

  // What is more is not allowed by the update: the kernel asks.
  await publish("1.2.0", ", write_tags: true");
  const next = (await friend.json("update", id, "--dry-run")) as { items: typeof items };
  expect(next.items[0]!.offer.more).toHaveLength(1);
  expect(await friend.json("update", id, "--accept", next.items[0]!.offer.sha256)).toMatchObject({
    items: [{ state: "updated" }],
  });
  const run = await friend.lares("run", "--once");
  expect([run.code, run.stderr]).toEqual([1, expect.stringMatching(/\[ \] Tags on files {2}\(new\)/)]);

  const removal = await friend.json("remove", id, "--dry-run");
  expect(removal).toMatchObject({ id, document: { isNew: false }, memories: [{ isHere: true }] });
  expect(await friend.json("list")).toMatchObject({ items: [{ version: "1.2.0" }] });
});
