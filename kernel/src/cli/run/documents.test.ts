import { describe, expect, it, vi } from "vitest";
import { LaresError } from "../../base/errors.ts";
import { KernelClient } from "../kernel-client.ts";
import { aQuestion, FakeKernel } from "../testing/fake-kernel.ts";
import { followDocuments } from "./documents.ts";

async function start({
  acceptsPrograms = false,
  answers,
}: {
  acceptsPrograms?: boolean;
  answers?: boolean[];
}) {
  const fake = new FakeKernel();
  const kernel = new KernelClient(await fake.connect({ folder: "/w" }));
  const remarks: string[] = [];
  const asked: string[][] = [];
  const end = new AbortController();
  const done = followDocuments(
    {
      kernel,
      acceptsPrograms,
      ask:
        answers === undefined
          ? null
          : async (status) => {
              asked.push([...status.trust.pending]);
              const isAnswered = answers.shift() ?? false;
              if (isAnswered) await kernel.trust(status.trust.digest);
              return isAnswered;
            },
      remark: (text) => void remarks.push(text),
    },
    end.signal,
  );
  const accepted = () => fake.requests.filter(({ method }) => method === "lares/trust").length;
  const looks = () => fake.requests.filter(({ method }) => method === "lares/status").length;
  /** Two more looks, so that what is done once is not done twice. */
  const lookTwice = async () => {
    const before = looks();
    await vi.waitFor(() => expect(looks()).toBeGreaterThan(before + 1), { timeout: 5000 });
  };
  const finish = async () => {
    end.abort();
    await done;
  };
  return { fake, remarks, asked, accepted, lookTwice, finish };
}

const changed = "Seer (a.seer) has a changed program";
const wider = "Seer (a.seer) asks for write_tags in the whole workspace";

describe("new requests while agents run", () => {
  it("with --watch accepts a changed program and says so", async () => {
    const run = await start({ acceptsPrograms: true });
    [run.fake.pending, run.fake.changedPrograms] = [[changed], ["a.seer"]];
    await run.lookTwice();
    expect(run.remarks).toEqual(["accepted the changed program of a.seer (--watch)"]);
    expect(run.accepted()).toBe(1);
    await run.finish();
  });

  it("with --watch grants nothing that was withheld", async () => {
    const run = await start({ acceptsPrograms: true });
    const [card] = run.fake.question.extensions;
    const parts = card!.parts.map((part, index) => ({ ...part, granted: index === 0 }));
    run.fake.question = aQuestion({ granted: true, parts });
    [run.fake.pending, run.fake.changedPrograms] = [[changed], ["a.seer"]];
    await run.lookTwice();
    expect(run.fake.requests.find(({ method }) => method === "lares/trust")?.params).toMatchObject({
      grants: { extensions: [{ extension: "dev.lares.storage", parts: ["read_entries"], folders: [] }] },
    });
    await run.finish();
  });

  it("with --watch asks for a wider request, in any wording", async () => {
    const run = await start({ acceptsPrograms: true, answers: [false] });
    [run.fake.pending, run.fake.changedPrograms] = [[changed, wider], []];
    await run.lookTwice();
    expect(run.asked).toEqual([[changed, wider]]);
    expect(run.accepted()).toBe(0);
    await run.finish();
  });

  it("without --watch asks for a changed program too, once, and accepts it", async () => {
    const run = await start({ answers: [true] });
    [run.fake.pending, run.fake.changedPrograms] = [[changed], ["a.seer"]];
    await run.lookTwice();
    expect(run.asked).toEqual([[changed]]);
    expect(run.accepted()).toBe(1);
    await run.finish();
  });

  it("without a terminal reports what waits once, and accepts nothing", async () => {
    const run = await start({ acceptsPrograms: true });
    run.fake.pending = [wider];
    await run.lookTwice();
    expect(run.remarks.filter((text) => text.includes(wider))).toHaveLength(1);
    expect(run.accepted()).toBe(0);
    await run.finish();
  });

  it("checks again if the documents changed before the answer", async () => {
    const digests: string[] = [];
    const remarks: string[] = [];
    const end = new AbortController();
    const fake = new FakeKernel();
    [fake.pending, fake.changedPrograms] = [[changed], ["a.seer"]];
    await followDocuments(
      {
        kernel: {
          status: () => Promise.resolve(fake.status),
          question: () => Promise.resolve(fake.question),
          trust: (digest) => {
            digests.push(digest);
            if (digests.length === 1) return Promise.reject(new LaresError("DigestMismatch", "changed"));
            end.abort();
            return Promise.resolve(fake.status);
          },
        },
        acceptsPrograms: true,
        ask: null,
        remark: (text) => void remarks.push(text),
      },
      end.signal,
    );
    expect(digests).toHaveLength(2);
    expect(remarks).toHaveLength(1);
  });
});
