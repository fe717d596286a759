import { beforeEach, describe, expect, it } from "vitest";
import { fakeContext } from "../testing/context.ts";
import { agent } from "../testing/things.ts";
import { seen } from "../testing/vscode.ts";
import { MemoryWatch } from "./memory-watch.ts";

beforeEach(() => seen.forget());

function start() {
  const kernel = { items: 1, records: 1 as number | undefined, isGone: false, waits: Promise.resolve() };
  const fake = fakeContext({
    "lares/agents/list": async () => {
      await kernel.waits;
      if (kernel.isGone) throw new Error("The kernel is not running.");
      return [agent({ id: "a", metrics: { ...agent().metrics, knowledge_items_count: kernel.items } })];
    },
    "lares/memory/namespaces": () => ({ namespaces: [{ name: "team", records: kernel.records }] }),
  });
  let told = 0;
  const watch = new MemoryWatch(fake.context.kernel, () => (told += 1));
  return { fake, kernel, watch, told: () => told };
}

describe("the page is told", () => {
  it("once after it began to watch, then only of changes, each followed by one more report", async () => {
    const { kernel, watch, told } = start();
    watch.watch({ agent: "a" });
    const heard: number[] = [];
    for (const items of [1, 1, 2, 2, 2]) {
      kernel.items = items;
      await watch.look();
      heard.push(told());
    }
    expect(heard).toEqual([1, 1, 2, 3, 3]);
  });

  it("each time for a memory that another workspace's kernel writes", async () => {
    const { kernel, watch, told } = start();
    kernel.records = undefined;
    watch.watch({ agent: "a", namespace: "team" });
    for (let look = 0; look < 3; look++) await watch.look();
    expect(told()).toBe(3);
  });
});

describe("the kernel is asked nothing", () => {
  it("while nothing is watched, while it does not run, and while a request is open", async () => {
    const { fake, kernel, watch } = start();
    await watch.look();
    watch.watch({ agent: "a" });
    fake.state = { kind: "restarting", reason: "", inMs: 1 } as never;
    await watch.look();
    expect(fake.asked).toEqual([]);
    fake.state = { kind: "running" };
    let answer = (): void => undefined;
    kernel.waits = new Promise((resolve) => (answer = resolve));
    const looking = watch.look();
    await watch.look();
    expect(fake.asked).toHaveLength(1);
    answer();
    await looking;
  });
});

it("an answer about a memory that is no longer watched is not reported", async () => {
  const { kernel, watch, told } = start();
  let answer = (): void => undefined;
  kernel.waits = new Promise((resolve) => (answer = resolve));
  watch.watch({ agent: "a" });
  const looking = watch.look();
  watch.watch({ agent: "other" });
  answer();
  await looking;
  expect(told()).toBe(0);
});

it("a kernel that ends during a request does not stop the watch: it is asked again", async () => {
  const { kernel, watch, told } = start();
  watch.watch({ agent: "a" });
  kernel.isGone = true;
  await watch.look();
  expect(told()).toBe(0);
  kernel.isGone = false;
  await watch.look();
  expect(told()).toBe(1);
});
