import { expect, describe, test } from "vitest";
import { permissionParams } from "../agents/lifecycle/boot.ts";
import { questionOf } from "../decisions/question.ts";
import { nothingRequested } from "../decisions/requested-permissions.ts";
import { decideHostCall } from "../policy/decide.ts";
import type { CatalogSnapshot } from "./catalog-snapshot.ts";
import { computeInForce, isAccepted } from "./in-force.ts";
import { workspace, documents, agentsInForce } from "./testing/consent-workspace.ts";
import { decisions } from "./testing/snapshots.ts";

describe("a model that lares.yaml names for an extension", () => {
  const faces = {
    name: "faces",
    source: { url: "https://models.example.com/faces.onnx" },
    sha256: "a".repeat(64),
    size_mb: 12,
  };
  const own = { ...faces, name: "own" };
  const placeWith = (models: object[]) => workspace(documents({ models: [own] }, { models }));
  const change = (place: Awaited<ReturnType<typeof workspace>>, models: object[]): Promise<void> =>
    place.write("lares.yaml", JSON.stringify({ extensions: [{ path: "./ext", models }] }));
  const modelsOf = (snapshot: CatalogSnapshot, inForce: ReturnType<typeof computeInForce>) => {
    const [agent] = agentsInForce(snapshot, inForce);
    return { names: agent?.authority.models, models: agent?.models };
  };

  test("is asked with its address and digest, and counts once a person accepted it, beside the manifest's own", async () => {
    const place = await placeWith([faces]);
    const snapshot = await place.load();
    const before = computeInForce(snapshot, await decisions(), new Map());
    expect(agentsInForce(snapshot, before)).toEqual([]);
    const asked = before.pendingAsks.join("\n");
    for (const part of ["faces", faces.source.url, faces.sha256]) expect(asked).toContain(part);
    const { cards } = questionOf(snapshot.requests, {
      granted: nothingRequested,
      answered: nothingRequested,
      declined: new Set(),
      inForce: nothingRequested,
    });
    expect(cards[0]?.facts.filter(({ kind }) => kind === "model").map(({ text }) => text)).toEqual([
      "own, up to 12 MiB, downloaded from models.example.com",
      "faces, up to 12 MiB, downloaded from models.example.com, named in this workspace's lares.yaml",
    ]);
    const inForce = computeInForce(snapshot, await decisions(snapshot), new Map());
    expect(modelsOf(snapshot, inForce)).toMatchObject({
      names: ["own", "faces"],
      models: [{ name: "own" }, { name: "faces", sha256: faces.sha256 }],
    });
  });

  test.each([
    ["another address", { source: { url: "https://models.example.com/other.onnx" } }],
    ["another digest", { sha256: "b".repeat(64) }],
    ["a host to be redirected to", { source: { ...faces.source, redirect_hosts: ["evil.example.com"] } }],
    ["a larger size", { size_mb: 13 }],
  ])("is asked again with %s, and until then the accepted one is in force", async (_what, changed) => {
    const place = await placeWith([faces]);
    const accepted = await place.load();
    await change(place, [{ ...faces, ...changed }]);
    const snapshot = await place.load();
    const store = await decisions(accepted);
    expect(isAccepted(snapshot, store)).toBe(false);
    const inForce = computeInForce(snapshot, store, new Map());
    expect(inForce.pendingAsks).not.toEqual([]);
    const { models = [] } = modelsOf(snapshot, inForce);
    expect(models.find(({ name }) => name === "faces")).toMatchObject(faces);
  });

  test("in place of one of the manifest is asked, and does not run before", async () => {
    const place = await placeWith([]);
    const accepted = await place.load();
    await change(place, [{ ...own, sha256: "c".repeat(64) }]);
    const snapshot = await place.load();
    const inForce = computeInForce(snapshot, await decisions(accepted), new Map());
    expect(modelsOf(snapshot, inForce).models).toEqual([own]);
    const after = computeInForce(snapshot, await decisions(accepted, snapshot), new Map());
    expect(modelsOf(snapshot, after)).toMatchObject({
      names: ["own"],
      models: [{ name: "own", sha256: "c".repeat(64) }],
    });
  });

  test("is not asked again if it is removed, and no longer counts", async () => {
    const place = await placeWith([faces]);
    const accepted = await place.load();
    await change(place, []);
    const snapshot = await place.load();
    const store = await decisions(accepted);
    expect(isAccepted(snapshot, store)).toBe(true);
    expect(modelsOf(snapshot, computeInForce(snapshot, store, new Map())).names).toEqual(["own"]);
  });

  test("gives the extension no other right: its hosts and permissions stay as they are, and denying models denies it", async () => {
    const place = await workspace(
      documents({ models: [own] }, { models: [faces], grants: { deny: ["use_models"] } }),
    );
    const snapshot = await place.load();
    const [agent] = agentsInForce(snapshot, computeInForce(snapshot, await decisions(snapshot), new Map()));
    expect(agent?.authority).toMatchObject({ effective: {}, hosts: [] });
    const call = { method: "ai/infer", params: { model: "faces", inputs: [] } };
    expect(agent && decideHostCall(agent.authority, call)).toMatchObject({ allowed: false });
    expect(agent && permissionParams(agent).models).toEqual([]);
  });
});
