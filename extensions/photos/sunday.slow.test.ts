import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { Bench, leave, tool } from "../../test/support/bench.ts";
import type { Client } from "../../test/support/client.ts";
import { exifOf, withExif } from "../../test/support/exif.ts";
import { clockAt } from "../../test/support/kernel-clock.ts";
import type { Action } from "../../test/support/types.ts";
import { until } from "../../test/support/until.ts";
import type { PlaceAnswer } from "./answers.ts";

const id = "dev.lares.photos";
const jpeg = await readFile(new URL("../../examples/library/photos/2024/mountain-lake.jpg", import.meta.url));
const dayMs = 24 * 60 * 60 * 1000;
const hourMs = dayMs / 24;

/** The next Sunday, not before tomorrow. */
const sunday = (() => {
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  return today + (7 - new Date(today).getUTCDay()) * dayMs;
})();

/** A photo of the Saturday before a Sunday, in an earlier year. */
function photoOf(of: number, yearsAgo: number, minute: number): Buffer {
  const day = new Date(of);
  day.setUTCFullYear(day.getUTCFullYear() - yearsAgo);
  const saturday = new Date(day.getTime() - dayMs).toISOString().slice(0, 10).replaceAll("-", ":");
  const taken = `${saturday} 15:${String(minute).padStart(2, "0")}:00`;
  return withExif(jpeg, exifOf({ taken, at: [41.89, 12.49] }));
}

interface Notification {
  readonly id: string;
  readonly title: string;
  readonly message: string;
}
const said = async (client: Client): Promise<Notification[]> =>
  (await client.request<{ items: Notification[] }>("lares/notifications/list", {})).items;
const runsOf = async (client: Client): Promise<string | undefined> => {
  const agents =
    await client.request<{ id: string; hooks: { schedule?: string; nextRun?: string }[] }[]>(
      "lares/agents/list",
    );
  return agents.find((agent) => agent.id === id)?.hooks.find(({ schedule }) => schedule !== undefined)
    ?.nextRun;
};
/** Ends the kernel, so that the next client starts one of another time. */
async function end(bench: Bench, client: Client): Promise<void> {
  const { pid } = await bench.status(client);
  await leave(client);
  await bench.kill(pid);
}

it("on a Sunday at nine it tells once of the weekend years ago, also if the kernel comes too late", async () => {
  const photos = [
    ...[1, 2, 3].map((n) => [`photos/a${n}.jpg`, photoOf(sunday, 1, n)] as const),
    ...[1, 2, 3, 4].map((n) => [`photos/b${n}.jpg`, photoOf(sunday, 2, n)] as const),
    ...[1, 2, 3].map((n) => [`photos/c${n}.jpg`, photoOf(sunday + 7 * dayMs, 1, n)] as const),
  ];
  await using bench = await Bench.create({
    files: { ...Object.fromEntries(photos), "albums/Old.album.md": "# Old\n" },
    lares: { extensions: [{ id, grants: { locations: ["photos", "albums"] } }] },
  });
  {
    const client = await bench.open();
    await until("the photos to be read", async () => {
      const places = await tool<PlaceAnswer[]>(client, id, "places", {});
      return places[0]?.photos === photos.length;
    });
    expect(await said(client)).toEqual([]);
    await end(bench, client);
  }
  {
    const client = await bench.open({ environment: clockAt(sunday + 9 * hourMs - 5_000) });
    const [memory, ...others] = await until("the memory", async () => {
      const items = await said(client);
      return items.length > 0 && items;
    });
    expect(others).toEqual([]);
    expect(memory?.title).toBe("On this weekend 2 years ago: 4 photos in Rome");
    expect(memory?.message).toContain("photos/b1.jpg, photos/b2.jpg, photos/b3.jpg, …");
    expect(await runsOf(client)).toBe(new Date(sunday + 7 * dayMs + 9 * hourMs).toISOString());

    const action = await client.request<Action>("lares/notifications/act", { id: memory?.id });
    expect(action).toMatchObject({ agent: id, state: "PendingApproval" });
    await client.request("lares/actions/approve", { id: action.id, digest: action.digest });
    const [page] = action.effects;
    expect(await readFile(bench.path(page?.path ?? ""), "utf8")).toContain("b1.jpg");
    await end(bench, client);
  }
  // Away on the next Sunday, it tells on the Wednesday after it.
  const client = await bench.open({ environment: clockAt(sunday + 10 * dayMs) });
  const titles = await until("the missed run", async () => {
    const items = await said(client);
    return items.length > 1 && items.map(({ title }) => title);
  });
  expect(titles).toEqual([
    "On this weekend a year ago: 3 photos in Rome",
    "On this weekend 2 years ago: 4 photos in Rome",
  ]);
});
