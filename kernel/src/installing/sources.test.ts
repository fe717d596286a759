import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { pack as tarOf } from "tar-stream";
import { expect, onTestFinished, test } from "vitest";
import { neverAborted } from "../base/abort.ts";
import { packageBounds } from "../packages/bounds.ts";
import { packageInTarball } from "../packages/npm-tarball.ts";
import { readPackage, writePackage } from "../packages/package-file.ts";
import type { IndexEntry } from "../packages/package-index.ts";
import { about, ours, text, theirs } from "../packages/testing/archives.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { registryFor } from "./npm-registry.ts";
import { bed } from "./testing/bed.ts";

const signal = neverAborted;
const may = { replacesPublisher: false, allowsOlder: false, signal };

function packed(version: string, key = ours): Uint8Array {
  const manifest = `extension: { id: ${about.id}, name: Photos, version: ${version}, permissions: { write_tags: true } }\n`;
  const files = new Map([
    ["extension.yaml", text(manifest)],
    ["agent.js", text("export default {};\n")],
  ]);
  return writePackage({ id: about.id, version }, files, key);
}

function entryOf(bytes: Uint8Array, change: Partial<IndexEntry> = {}): IndexEntry {
  const { record, sha256, size } = readPackage(bytes);
  return {
    id: record.id,
    version: record.version,
    name: "Photos",
    description: "Sorts photos",
    url: `packages/${record.version}.lares`,
    sha256,
    size,
    publisher: record.publisher,
    permissions: ["read_entries"],
    ...change,
  };
}
const indexOf = (...extensions: object[]): string => JSON.stringify({ format: 1, extensions });

/** Serves files by their paths; a text that begins with "→" redirects. */
async function serve(
  files: Record<string, string | Uint8Array>,
): Promise<{ address: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    asked.push(url);
    const file = files[url];
    if (typeof file === "string" && file.startsWith("→"))
      return response.writeHead(302, { location: file.slice(1) }).end();
    response.writeHead(file === undefined ? 404 : 200).end(file);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

test("an extension is found in an index by path, the newest release first, and updated from there", async () => {
  const { packages, base, workspace } = await bed();
  const folder = join(base, "index");
  await mkdir(join(folder, "packages"), { recursive: true });
  const versions = ["1.9.0", "1.10.0", "2.0.0-beta.1"].map((version) => packed(version));
  for (const bytes of versions) await writeFile(join(folder, entryOf(bytes).url), bytes);
  await writeFile(
    join(folder, "index.json"),
    indexOf(...versions.map((bytes) => entryOf(bytes)), { id: "../evil" }),
  );
  for (const from of [folder, join(folder, "index.json")]) {
    const { offer } = await packages.open(about.id, { from, signal });
    // Those of the manifest, not of the index.
    expect(offer).toMatchObject({ version: "1.10.0", permissions: ["write_tags"] });
  }
  expect(await packages.search("PHOTOS sorts", { from: folder, signal })).toMatchObject({
    items: [{ id: about.id, version: "1.10.0" }],
    unusable: 1,
  });
  expect(await packages.search("photos music", { from: folder, signal })).toMatchObject({ items: [] });
  await (await packages.open(about.id, { from: folder, signal })).install(may);
  expect(await packages.list(workspace)).toMatchObject([{ index: join(folder, "index.json") }]);
  await expect(packages.open("com.example.none", { from: folder, signal })).rejects.toThrow(
    "has no extension",
  );
  await expect(packages.open(about.id, { signal })).rejects.toThrow("--from <file or address>");
  await expect(packages.open("./x", { from: folder, signal })).rejects.toThrow("is not an id");
});

test.each<[string, Partial<IndexEntry>, string]>([
  ["the digest", { sha256: "0".repeat(64) }, "the SHA-256"],
  ["the size", { size: 12 }, "12 bytes"],
  ["the version", { version: "9.0.0" }, "the version 9.0.0"],
  ["the publisher", { publisher: Buffer.from(theirs.publicKey).toString("base64") }, "the publisher"],
  ["a scheme", { url: "file:///etc/passwd" }, "neither relative nor http"],
  ["a name that no file system takes", { url: "x%00.lares" }, "neither relative nor http"],
  ["another machine", { url: "\\\\host\\share\\x.lares" }, "neither relative nor http"],
  ["a size that no package has", { size: packageBounds.maxPackageBytes + 1 }, "at most"],
])("an index that lies about %s is found out", async (_what, change, why) => {
  const { packages, base } = await bed();
  const bytes = packed("1.0.0");
  await mkdir(join(base, "packages"));
  await writeFile(join(base, entryOf(bytes).url), bytes);
  await writeFile(join(base, "index.json"), indexOf(entryOf(bytes, change)));
  await expect(packages.open(about.id, { from: base, signal })).rejects.toThrow(why);
});

test.each([
  ["not JSON", "{", "is not JSON"],
  ["without a list", "{}", "no list"],
  ["of another format", '{"format":2,"extensions":[]}', "of a format"],
  ["with too many entries", indexOf(...Array.from({ length: 10_001 }, () => ({}))), "10001 entries"],
])("an index that is %s is refused", async (_what, index, why) => {
  const { packages, base } = await bed();
  await writeFile(join(base, "index.json"), index);
  await expect(packages.open(about.id, { from: base, signal })).rejects.toThrow(why);
});

test("an index and a package are downloaded from an address that the person named, and from nowhere else inside", async () => {
  const { packages } = await bed();
  const bytes = packed("1.0.0");
  const inside = await serve({ "/secret.lares": bytes });
  const files: Record<string, string | Uint8Array> = {
    "/lares/index.json": indexOf(entryOf(bytes)),
    "/lares/packages/1.0.0.lares": bytes,
    "/elsewhere.json": indexOf(entryOf(bytes, { url: `${inside.address}/secret.lares` })),
    "/redirected.lares": `→${inside.address}/secret.lares`,
    "/long.json": indexOf(entryOf(bytes, { url: "long.lares" })),
    "/long.lares": new Uint8Array(bytes.length + 5_000),
  };
  const { address } = await serve(files);
  const received: number[] = [];
  const opened = await packages.open(about.id, {
    from: `${address}/lares/index.json`,
    signal,
    received: (count) => received.push(count),
  });
  expect(opened.offer).toMatchObject({ version: "1.0.0", source: `index:${address}/lares/index.json` });
  expect(received.at(-1)).toBe(bytes.length);
  const direct = await packages.open(`${address}/lares/packages/1.0.0.lares`, { signal });
  expect(direct.offer.id).toBe(about.id);
  await expect(packages.open(`${address}/none.lares`, { signal })).rejects.toThrow("status 404");
  await expect(packages.open(about.id, { from: `${address}/elsewhere.json`, signal })).rejects.toThrow(
    "inside this machine or its network",
  );
  await expect(packages.open(`${address}/redirected.lares`, { signal })).rejects.toThrow(
    "inside this machine or its network",
  );
  expect(inside.asked).toEqual([]);
  await expect(packages.open(about.id, { from: `${address}/long.json`, signal })).rejects.toThrow(
    "has more than",
  );
  await expect(packages.open("http://example.com/x.lares", { signal })).rejects.toThrow("https only");
});

test("only a private host leads to the person's private hosts, by an index or a redirect", async () => {
  const { packages, config } = await bed();
  const bytes = packed("1.0.0");
  const device = await serve({ "/x.lares": bytes });
  const files: Record<string, string> = {
    "/index.json": indexOf(entryOf(bytes, { url: `${device.address}/x.lares` })),
    "/redirected.lares": `→${device.address}/x.lares`,
  };
  const [outside, inside] = [await serve(files), await serve(files)];
  await mkdir(config, { recursive: true });
  const hosts = [device.address, inside.address].map((address) => address.replace("http://", ""));
  await writeFile(
    join(config, "lares.yaml"),
    `version: 1\negress: { private_hosts: ${JSON.stringify(hosts)} }\n`,
  );
  const ways = ({ address }: { readonly address: string }) => [
    () => packages.open(about.id, { from: `${address}/index.json`, signal }),
    () => packages.open(`${address}/redirected.lares`, { signal }),
  ];
  for (const way of ways(outside)) await expect(way()).rejects.toThrow("inside this machine or its network");
  expect(device.asked).toEqual([]);
  for (const way of ways(inside)) expect((await way()).offer.id).toBe(about.id);
  expect((await packages.open(`${device.address}/x.lares`, { signal })).offer.id).toBe(about.id);
});

async function tarball(files: Record<string, Uint8Array>): Promise<Buffer> {
  const archive = tarOf();
  for (const [name, bytes] of Object.entries(files)) archive.entry({ name }, Buffer.from(bytes));
  archive.finalize();
  const pieces: Uint8Array[] = [];
  for await (const piece of archive) pieces.push(piece as Uint8Array);
  return gzipSync(Buffer.concat(pieces));
}

test("an npm package brings the one package in its tarball; its integrity is checked", async () => {
  const bytes = packed("1.0.0");
  const tar = await tarball({ "package/package.json": text("{}"), "package/dist/photos.lares": bytes });
  const files: Record<string, string | Uint8Array> = { "/t/photos-1.0.0.tgz": tar };
  const { address, asked } = await serve(files);
  const dist = (integrity: string): object => ({
    dist: { tarball: `${address}/t/photos-1.0.0.tgz`, integrity },
  });
  const right = `sha512-${createHash("sha512").update(tar).digest("base64")}`;
  files["/@example%2fphotos"] = JSON.stringify({
    "dist-tags": { latest: "1.0.0" },
    versions: { "1.0.0": dist(right), "0.9.0": dist(`sha512-${"A".repeat(86)}==`) },
  });
  files["/broken"] = "<html>";
  const { packages, workspace } = await bed({ npm_config_registry: address });
  const opened = await packages.open("npm:@example/photos", { signal });
  expect(opened.offer).toMatchObject({ id: about.id, source: "npm:@example/photos" });
  await opened.install(may);
  expect(await packages.list(workspace)).toMatchObject([{ source: "npm:@example/photos", index: null }]);
  expect(asked).toEqual(["/@example%2fphotos", "/t/photos-1.0.0.tgz"]);
  await expect(packages.open("npm:@example/photos@0.9.0", { signal })).rejects.toThrow("its digest differs");
  await expect(packages.open("npm:@example/photos@3.0.0", { signal })).rejects.toThrow('no version "3.0.0"');
  await expect(packages.open("npm:broken", { signal })).rejects.toThrow("not answer with JSON");
  await expect(packages.open("npm:none", { signal })).rejects.toThrow("status 404");
  for (const name of ["../x", "a/b", "", "A b", "x?y=1"])
    await expect(packages.open(`npm:${name}`, { signal })).rejects.toThrow("not the name of an npm package");
});

test("tarballs without a package, with two, broken, cut or too large are refused", async () => {
  const bytes = packed("1.0.0");
  const refused = async (tar: Uint8Array, why: string): Promise<void> => {
    await expect(packageInTarball(tar, "x")).rejects.toThrow(why);
  };
  await refused(await tarball({ "package/package.json": text("{}") }), "holds no .lares file");
  await refused(await tarball({ "a/one.lares": bytes, "a/two.lares": bytes }), "more than one");
  await refused(text("no gzip"), "not a tarball");
  const whole = await tarball({ "a/one.lares": bytes });
  await refused(whole.subarray(0, whole.length - 20), "not a tarball");
  await refused(
    gzipSync(new Uint8Array(2 * packageBounds.maxPackageBytes + 1)),
    "not a tarball, or has more",
  );
  await refused(gzipSync(text("x".repeat(2000))), "broken tarball");
  expect(Buffer.from(await packageInTarball(whole, "x")).equals(bytes)).toBe(true);
});

test("npm's registry comes from the environment and the user's own files, never from the current folder", async () => {
  const home = await temporaryFolder();
  const environment = { HOME: home, npm_config_globalconfig: join(home, "global") };
  expect(await registryFor("x", environment)).toBe("https://registry.npmjs.org/");
  await writeFile(join(home, "global"), "registry=https://global.example\n");
  expect(await registryFor("x", environment)).toBe("https://global.example/");
  await writeFile(
    join(home, ".npmrc"),
    '; mine\nregistry = "https://user.example/npm/"\n@scope:registry=https://${HOST}/\n//user.example/:_authToken=t\n',
  );
  expect(await registryFor("x", environment)).toBe("https://user.example/npm/");
  expect(await registryFor("@scope/x", { ...environment, HOST: "scope.example" })).toBe(
    "https://scope.example/",
  );
  expect(await registryFor("x", { ...environment, NPM_CONFIG_REGISTRY: "https://env.example" })).toBe(
    "https://env.example/",
  );
  await expect(registryFor("x", { ...environment, npm_config_registry: "ftp://a" })).rejects.toThrow(
    "cannot be used",
  );
});
