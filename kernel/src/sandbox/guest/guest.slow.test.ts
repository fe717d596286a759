import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { guestModuleUrl } from "./preamble.ts";
import { bundleFiles, runTool, startFiles, startTool, TestGuest } from "./testing/run-guest.ts";

const refusal = (code: string): Error => Object.assign(new Error(code), { code });

const abiImports = [
  "clock_time_get",
  "fd_close",
  "fd_fdstat_get",
  "fd_read",
  "fd_seek",
  "fd_write",
  "poll_oneoff",
  "proc_exit",
  "random_get",
];

describe("the guest's module", () => {
  const module = new WebAssembly.Module(new Uint8Array(readFileSync(guestModuleUrl)));

  it("exports its memory and _start, and nothing else", () => {
    expect(
      WebAssembly.Module.exports(module)
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(["_start", "memory"]);
  });

  it("imports only what ABI v1 allows, each once", () => {
    const imports = WebAssembly.Module.imports(module);
    expect(new Set(imports.map((entry) => entry.module))).toEqual(new Set(["wasi_snapshot_preview1"]));
    expect(imports.map(({ name }) => name).toSorted()).toEqual(abiImports);
  });
});

describe("lines", () => {
  it("carries every kind of text both ways, up to 1 MiB, and refuses more with LimitExceeded", async () => {
    await using guest = await startTool(`
      if (args.text !== undefined) return args.text;
      if (args.answer !== undefined) return "ü".repeat(args.answer);
      try { await ctx.shared.write("key", "x".repeat(args.call)); return "sent"; }
      catch (error: any) { return [error.name, error.code, error.facts.limit, error.facts.value > 1048576]; }
    `);
    await guest.initialize();
    for (const text of ["", "ü€😀", '\u0000\u001f\u2028\\"', "\ud800 lone", "line\nfeed\r"]) {
      expect(await runTool(guest, { text })).toBe(text);
    }
    const long = "é".repeat(500_000);
    expect(await runTool(guest, { text: long })).toBe(long);
    expect(await runTool(guest, { call: 1_000_000 })).toBe("sent");
    expect(await runTool(guest, { call: 1_100_000 })).toEqual([
      "LaresError",
      "LimitExceeded",
      "line_bytes",
      true,
    ]);
    const { error } = await guest.ask("tool", {
      name: "run",
      arguments: { answer: 600_000 },
      call_id: "1",
      caller: "user",
    });
    expect(error).toMatchObject({ code: -33007, data: { code: "LimitExceeded" } });
    // The guest still works.
    expect(await runTool(guest, { text: "still here" })).toBe("still here");
  });

  it("keeps at most 64 calls open and sends the others in order as answers arrive", async () => {
    await using guest = await startTool(`
      const all = await Promise.all(Array.from({ length: 200 }, (_, i) => ctx.shared.read("k" + i)));
      return all.map((one: any) => one.value);
    `);
    let open = 0;
    let most = 0;
    const gate = Promise.withResolvers<void>();
    guest.onCall = async (_method, params) => {
      most = Math.max(most, ++open);
      if (open === 64) gate.resolve();
      await gate.promise;
      open--;
      return { version: 1, value: params["key"] };
    };
    await guest.initialize();
    expect(await runTool(guest)).toEqual(Array.from({ length: 200 }, (_, i) => `k${i}`));
    expect(most).toBe(64);
  });

  it("race: a call that is cancelled while it is open is cancelled at the kernel once, one that waits for its turn is not sent", async () => {
    await using guest = await startTool(`
      const aborter = new AbortController();
      const { signal } = aborter;
      const code = (error: any) => error.code;
      const open = Array.from({ length: 64 }, (_, i) => ctx.vdfs.count({ path: "open" + i }, i === 3 ? { signal } : {}).catch(code));
      const waiting = [ctx.vdfs.count({ path: "waits" }, { signal }).catch(code), ctx.vdfs.count({ path: "sent" }, {}).catch(code)];
      aborter.abort();
      aborter.abort();
      const late = await ctx.memory.search("late", { signal }).catch(code);
      return [late, ...(await Promise.all(waiting)), (await Promise.all(open))[3]];
    `);
    const cancelled = (): number | undefined =>
      guest.calls
        .filter(({ method }) => method === "cancel")
        .map(({ params }) => params?.["id"] as number)[0];
    guest.onCall = async (_method, { path }) => {
      await guest.until(() => cancelled() !== undefined);
      if (path === "open3") throw refusal("RequestCancelled");
      return { count: 1 };
    };
    await guest.initialize();
    expect(await runTool(guest)).toEqual(["RequestCancelled", "RequestCancelled", 1, "RequestCancelled"]);
    const asked = guest.calls.map(({ method, params }) => [method, params?.["path"]]);
    expect(asked.filter(([method]) => method === "cancel")).toHaveLength(1);
    expect(asked.filter(([, path]) => path === "waits" || path === "sent")).toEqual([["vdfs/count", "sent"]]);
    expect(guest.calls.find(({ id }) => id === cancelled())?.params).toMatchObject({ path: "open3" });
  });

  it("terminal state: a call whose answer has arrived is not cancelled", async () => {
    await using guest = await startTool(`
      const aborter = new AbortController();
      const count = await ctx.vdfs.count({}, { signal: aborter.signal });
      aborter.abort();
      return count;
    `);
    guest.onCall = () => ({ count: 2 });
    await guest.initialize();
    expect(await runTool(guest)).toBe(2);
    expect(await runTool(guest)).toBe(2);
    expect(guest.calls.map(({ method }) => method)).not.toContain("cancel");
  });

  it("answers an unknown method with -32601 and survives a line that is not JSON", async () => {
    await using guest = await startTool("return 1;");
    await guest.initialize();
    guest.write("this is no JSON\n[]\nnull\n{}\n");
    expect((await guest.ask("nonsense")).error).toMatchObject({ code: -32601 });
    expect(await runTool(guest)).toBe(1);
  });

  it("keeps its framing when the program patches every prototype it can reach", async () => {
    const files = {
      "agent.ts": `
        import { defineAgent } from "@lares/sdk";
        export default defineAgent({ hooks: { async spoil(event: any) {
          const o = Object.prototype as any;
          Object.defineProperty(o, "toJSON", { value: () => "polluted", configurable: true });
          for (const key of ["id", "method", "error", "result", "then2"]) Object.defineProperty(o, key, { get() { return "polluted"; }, configurable: true });
          JSON.stringify = () => "broken"; JSON.parse = () => { throw new Error("broken") };
          Map.prototype.get = Map.prototype.set = () => { throw new Error("broken") };
          String.prototype.slice = () => "broken" as any;
          Promise.prototype.then = () => { throw new Error("broken") };
          Array.prototype.push = () => { throw new Error("broken") };
          Function.prototype.call = Function.prototype.apply = () => { throw new Error("broken") };
        } } });`,
    };
    await using guest = await startFiles(files);
    await guest.initialize();
    await guest.ask("hook", { handler: "spoil", event: {} });
    expect(await guest.request("ping")).toEqual({ pending_timers: 0 });
    expect((await guest.ask("nonsense")).error).toMatchObject({ code: -32601 });
    expect((await guest.ask("hook", { handler: "missing", event: {} })).error?.message).toContain("missing");
  });
});

describe("time", () => {
  it("runs timers in order while no line arrives, and skips cleared ones", async () => {
    await using guest = await startTool(`
      const order: string[] = [];
      const cleared = setTimeout(() => order.push("cleared"), 1);
      clearTimeout(cleared);
      let ticks = 0;
      const done = Promise.withResolvers<void>();
      const every = setInterval(() => { order.push("tick"); if (++ticks === 3) { clearInterval(every); done.resolve(); } }, 10);
      setTimeout(() => order.push("first"), 0);
      setTimeout((a: string, b: string) => order.push(a + b), 5, "with ", "arguments");
      queueMicrotask(() => order.push("microtask"));
      await done.promise;
      const start = performance.now();
      await new Promise((resolve) => setTimeout(resolve, 20));
      return { order, waited: performance.now() - start >= 19 };
    `);
    await guest.initialize();
    expect(await runTool(guest)).toEqual({
      order: ["microtask", "first", "with arguments", "tick", "tick", "tick"],
      waited: true,
    });
    expect(await guest.request("ping")).toEqual({ pending_timers: 0 });
  });

  it("answers ping at once while handlers wait for a call and for a timer, and counts the timers", async () => {
    await using guest = await startTool(`
      if (args.timer) return new Promise((resolve) => setTimeout(resolve, 100_000));
      return ctx.shared.read("never");
    `);
    guest.onCall = () => new Promise(() => {});
    await guest.initialize();
    const unanswered = [runTool(guest, { timer: true }), runTool(guest)];
    await guest.until(() => guest.calls.length === 1);
    expect(await guest.request("ping")).toEqual({ pending_timers: 1 });
    expect(unanswered).toHaveLength(2);
  });
});

describe("errors", () => {
  it("throws a RangeError for deep recursion and deeply nested JSON, and continues", async () => {
    await using guest = await startTool(`
      const kinds: Record<string, () => unknown> = {
        plain: () => { const f = (): unknown => [f()]; return f(); },
        callback: () => { const f = (): unknown => [1].map(f); return f(); },
        getter: () => { const o: any = { get x() { return o.x; } }; return o.x; },
        text: () => { const o: any = { toString: () => String(o) }; return String(o); },
        json: () => JSON.parse("[".repeat(500_000)),
        stringify: () => { const o: any = { toJSON: () => JSON.stringify(o) }; return JSON.stringify(o); },
      };
      return Object.fromEntries(Object.entries(kinds).map(([name, run]) => { try { return [name, run()]; } catch (error: any) { return [name, error.name]; } }));
    `);
    await guest.initialize();
    const all = ["plain", "callback", "getter", "text", "json", "stringify"];
    expect(await runTool(guest)).toEqual(Object.fromEntries(all.map((name) => [name, "RangeError"])));
  });

  it("reports unhandled rejections and errors of timers on stderr, with the author's lines", async () => {
    await using guest = await startFiles({
      "agent.ts": `import { defineAgent } from "@lares/sdk";
import { later } from "./later.ts";
export default defineAgent({ hooks: {
  async reject() { void Promise.reject(new Error("nobody waits")); },
  async handledLate() { const p = Promise.reject(new Error("handled")); p.catch(() => {}); },
  async timer() { later(); },
} });`,
      "later.ts": `export function later(): void {
  setTimeout(() => {
    throw new TypeError("from a timer");
  }, 0);
}`,
    });
    await guest.initialize();
    await guest.request("hook", { handler: "handledLate", event: {} });
    await guest.request("hook", { handler: "reject", event: {} });
    await guest.request("hook", { handler: "timer", event: {} });
    await guest.until(() => guest.stderr.includes("later.ts"));
    expect(guest.stderr).toContain("Unhandled rejection: Error: nobody waits\n    at reject (agent.ts:4:40)");
    expect(guest.stderr).toContain(
      "Uncaught in a timer: TypeError: from a timer\n    at <anonymous> (later.ts:3:5)",
    );
    expect(guest.stderr).not.toContain("handled\n");
  });

  it("answers initialize with the reason why a program cannot be loaded: it throws, rejects after an await, or has no agent", async () => {
    const files = [
      { main: `import "./broken.ts";\nexport default {};`, message: "at load", place: "broken.ts:2:1" },
      {
        main: `await null;\nawait Promise.reject(new RangeError("after an await"));`,
        message: "after an await",
        place: "agent.ts:2",
      },
      { main: `export const agent = 1;`, message: "default export", place: "" },
    ];
    for (const { main, message, place } of files) {
      await using guest = await startFiles({
        "agent.ts": main,
        "broken.ts": `const x: number = 1;\nthrow new Error("at load" + x);`,
      });
      await expect(guest.initialize()).rejects.toMatchObject({
        message: expect.stringContaining(message) as string,
        code: -33013,
        mapped: expect.stringContaining(place) as string,
      });
      expect(await guest.request("ping")).toEqual({ pending_timers: 0 });
    }
  });
});

describe("the end", () => {
  it("answers shutdown, then exits with status 0, even if onShutdown throws or timers are pending", async () => {
    for (const throws of [false, true]) {
      await using guest = await startFiles({
        "agent.ts": `import { defineAgent } from "@lares/sdk";
          export default defineAgent({ async onStartup(ctx) { setInterval(() => {}, 10); ctx.signal.addEventListener("abort", () => console.log("aborted")); },
            async onShutdown(ctx) { await ctx.memory.sync(); if (${throws}) throw new Error("no"); } });`,
      });
      await guest.initialize();
      await guest.request("startup");
      const { error } = await guest.ask("shutdown");
      expect(error?.message).toBe(throws ? "no" : undefined);
      expect(await guest.exited).toMatchObject({ exitCode: 0 });
      expect(guest.calls.map(({ method, params }) => [method, params?.["message"]])).toEqual([
        ["trace", "aborted"],
        ["memory/sync", undefined],
      ]);
    }
  });

  it("cannot import at run time what was not bundled", async () => {
    await using guest = await startTool(
      `const name = "node:" + "fs"; return import(name).then(() => "loaded", (error) => error.name);`,
    );
    await guest.initialize();
    expect(await runTool(guest)).toBe("ReferenceError");
  });
});

describe("globals", () => {
  it("has working versions of the globals that agents may expect", async () => {
    await using guest = await startTool(String.raw`
      const url = new URL("../x?q=ü&a=1#h", "https://exämple.com:8080/a/b/c");
      url.searchParams.append("b", "2 3");
      const controller = new AbortController();
      let aborted = 0;
      controller.signal.addEventListener("abort", () => aborted++);
      controller.abort(new Error("enough"));
      const timeout = await new Promise((resolve) => AbortSignal.timeout(1).addEventListener("abort", function (this: any) { resolve(this.reason.name); }));
      const cyclic: any = { when: new Date(0), map: new Map([[1, { a: 1 }]]) };
      cyclic.self = cyclic;
      const clone = structuredClone(cyclic);
      return {
        url: url.href,
        params: [new URLSearchParams({ a: "1 2" }), new URLSearchParams([["x", "y"]]), new URLSearchParams("?p=q")].map(String),
        spread: [...url.searchParams],
        sameParams: url.searchParams === url.searchParams && url.searchParams instanceof URLSearchParams,
        utf8: [...new TextEncoder().encode("ü€😀")].length,
        decoded: new TextDecoder().decode(new Uint8Array([195, 188, 255])),
        clone: clone.self === clone && clone.map.get(1).a === 1 && clone.when.getTime() === 0,
        uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()),
        bytes: crypto.getRandomValues(new Uint8Array(16)).some((byte) => byte > 0),
        aborted, reason: controller.signal.reason.message, timeout,
        base64: btoa("hi") + atob("aGk="),
        date: new Date(0).getTimezoneOffset(),
        node: [typeof (globalThis as any).process, typeof (globalThis as any).require, typeof (globalThis as any).fetch],
        random: Math.random(),
      };
    `);
    await guest.initialize();
    const value = (await runTool(guest)) as { random: number };
    expect(value).toEqual({
      url: "https://xn--exmple-cua.com:8080/a/x?q=%C3%BC&a=1&b=2+3#h",
      params: ["a=1+2", "x=y", "p=q"],
      spread: [
        ["q", "ü"],
        ["a", "1"],
        ["b", "2 3"],
      ],
      sameParams: true,
      utf8: 9,
      decoded: "ü\ufffd",
      clone: true,
      uuid: true,
      bytes: true,
      aborted: 1,
      reason: "enough",
      timeout: "TimeoutError",
      base64: "aGk=hi",
      date: 0,
      node: ["undefined", "undefined", "undefined"],
      random: expect.any(Number) as number,
    });
    await using other = await startTool("return { random: Math.random() };");
    await other.initialize();
    // Guests share an image but not their random numbers.
    expect(await runTool(other)).not.toEqual({ random: value.random });
  });

  it("traces console calls within a bound", async () => {
    await using guest = await startTool(`
      const cyclic: any = { name: "x" }; cyclic.self = cyclic;
      console.log("a %s of %d and %j", "b", 2, { c: [1] }, cyclic);
      console.warn(new Map([["k", new Set([1])]]), [undefined, null, 1n, Symbol("s")]);
      console.error("x".repeat(100_000));
      console.debug(Array.from({ length: 1000 }, () => 1));
    `);
    await guest.initialize();
    await runTool(guest);
    const traces = guest.calls.map(({ params }) => [params?.["level"], String(params?.["message"])] as const);
    expect(traces[0]).toEqual(["info", 'a b of 2 and { c: [1] } { name: "x", self: [Circular] }']);
    expect(traces[1]).toEqual(["warn", 'Map { "k" => Set { 1 } } [undefined, null, 1n, Symbol(s)]']);
    expect(traces[2]?.[1].length).toBeLessThan(9000);
    expect(traces[3]?.[1]).toContain("… 900 more");
  });
});

it("loads a program of several MiB", async () => {
  const big = `export const text = "${"x".repeat(1_900_000)}";`;
  const result = await bundleFiles({
    "agent.ts": `import { text as a } from "./a.ts"; import { text as b } from "./b.ts"; import { text as c } from "./c.ts";
      export default { tools: { run: () => a.length + b.length + c.length } };`,
    "a.ts": big,
    "b.ts": big,
    "c.ts": big,
  });
  if (!result.ok) throw new Error(JSON.stringify(result.errors));
  await using guest = new TestGuest(result.program);
  await guest.initialize();
  expect(await runTool(guest)).toBe(5_700_000);
});
