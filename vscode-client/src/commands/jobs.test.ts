import { beforeEach, expect, it, vi } from "vitest";
import { window } from "vscode";
import { playedContext } from "../testing/played-context.ts";
import { job } from "../testing/things.ts";
import { commands, seen } from "../testing/vscode.ts";
import { settled } from "../testing/wire.ts";
import { jobCommands } from "./jobs.ts";

beforeEach(() => {
  vi.restoreAllMocks();
  seen.forget();
});

function start() {
  const played = playedContext();
  const feature = jobCommands(played.context);
  const run = async (given?: unknown): Promise<void> => {
    void commands.executeCommand("lares.jobCancel", given);
    await settled();
  };
  const told = vi.spyOn(window, "showInformationMessage");
  const failed = vi.spyOn(window, "showErrorMessage");
  return { ...played, run, told, failed, end: () => feature.dispose() };
}

it("a job of the tree is cancelled by its id and agent", async () => {
  const { wire, run, end, failed } = start();
  await run({ id: "job 1", agent: "test.agent", job: { id: "1", agent: "test.agent" } });
  expect(wire.asked.map(({ params }) => params)).toEqual([{ id: "1", agent: "test.agent" }]);
  await wire.answer("lares/jobs/cancel", job({ state: "Cancelled" }));
  expect(failed).not.toHaveBeenCalled();
  end();
});

it.each(["IllegalTransition", "NotFound"])(
  "%s: the job had ended already, which is not an error",
  async (code) => {
    const { wire, run, end, told, failed } = start();
    await run({ id: "1", agent: "a" });
    await wire.refuse("lares/jobs/cancel", "no", code);
    expect(told).toHaveBeenCalledWith("The job has ended already.");
    expect(failed).not.toHaveBeenCalled();
    end();
  },
);

it("other errors are shown", async () => {
  const { wire, run, end, failed } = start();
  await run({ id: "1", agent: "a" });
  await wire.refuse("lares/jobs/cancel", "the disk is full", "StorageError");
  expect(failed).toHaveBeenCalledWith("The job is not cancelled: the disk is full");
  end();
});

it("without an item a person chooses among the jobs, shown as plain text, and may choose none", async () => {
  const { wire, run, end, told } = start();
  const pick = vi.spyOn(window, "showQuickPick").mockImplementation(async (items) => {
    const [first] = await items;
    return first;
  });
  await run();
  const evil = "\u001b[31m$(trash)\u202egpj";
  await wire.answer("lares/jobs/list", {
    items: [
      job({ id: "1", agent: evil, name: evil, state: "Running", progress: { fraction: 0.5, message: evil } }),
      job({ id: "2", state: "Cancelling" }),
    ],
    total: 2,
  });
  await settled();
  expect(wire.asked.map(({ params }) => params)).toEqual([{ id: "1", agent: evil }]);
  const [offered] = (await pick.mock.calls[0]?.[0]) ?? [];
  expect(await pick.mock.calls[0]?.[0]).toHaveLength(1);
  const { label, description, detail } = offered as unknown as Record<string, string>;
  for (const text of [label, description, detail]) expect(text).not.toMatch(/[\u0000-\u001f\u202e]|\$\(/);
  await wire.answer("lares/jobs/cancel", job());

  pick.mockResolvedValue(undefined);
  await run();
  await wire.answer("lares/jobs/list", { items: [job()], total: 1 });
  expect(wire.asked).toEqual([]);
  await run();
  await wire.answer("lares/jobs/list", { items: [], total: 0 });
  expect(told).toHaveBeenCalledWith("No job is queued or running.");
  end();
});

it("a job that waits for its turn is called queued: only what waits for the person is called waiting", async () => {
  const { wire, run, end } = start();
  const pick = vi.spyOn(window, "showQuickPick").mockResolvedValue(undefined);
  await run();
  await wire.answer("lares/jobs/list", { items: [job({ state: "Waiting" })], total: 1 });
  await settled();
  expect(await pick.mock.calls[0]?.[0]).toMatchObject([{ detail: "queued" }]);
  end();
});

it("all jobs are cancelled after one question that distinguishes them, with no second “Cancel” beside its button", async () => {
  const { wire, end } = start();
  void commands.executeCommand("lares.jobCancelAll");
  await settled();
  await wire.answer("lares/jobs/list", {
    items: [
      job({ id: "1", name: "count", state: "Running", progress: { fraction: 0.25, message: "note 9" } }),
      job({ id: "2", name: "count" }),
    ],
    total: 2,
  });
  await settled();
  const [question] = seen.messages;
  expect(question?.detail).toBe(
    "• count of test.agent: running · 25 % · note 9\n• count of test.agent: queued",
  );
  expect(question?.buttons).toEqual(["Cancel 2 Jobs", "Keep Them"]);
  question?.answer("Cancel 2 Jobs");
  await settled();
  await wire.answer("lares/jobs/cancel", job());
  await settled();
  await wire.answer("lares/jobs/cancel", job());
  end();
});
