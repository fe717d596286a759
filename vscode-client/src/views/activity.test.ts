import { beforeEach, expect, it } from "vitest";
import { fakeContext } from "../testing/context.ts";
import { agent } from "../testing/things.ts";
import { seen, window } from "../testing/vscode.ts";
import { FakeWebview } from "../testing/webview.ts";
import { settled } from "../testing/wire.ts";
import { activityContract } from "../webviews/activity/messages.ts";
import { activity } from "./activity.ts";

beforeEach(() => seen.forget());

it("the page announces an agent's warnings and errors on the desktop while the window is not focused", async () => {
  const fake = fakeContext();
  fake.agents = [agent()];
  const feature = activity(fake.context);
  const { host } = new FakeWebview(activityContract).asView("lares.activity");
  const announced: unknown[] = [];
  host.on("remind", (reminder) => announced.push(reminder));
  const notice = { agent: "test.agent", title: "Disk full", message: "x".repeat(4_000) };
  const tell = (severity: "info" | "warning" | "error"): void =>
    fake.tell("lares/notify", { ...notice, severity });
  tell("error");
  window.state.focused = false;
  tell("info");
  tell("warning");
  tell("error");
  await settled();
  window.state.focused = true;
  expect(announced).toHaveLength(2);
  expect(announced[0]).toMatchObject({ title: "Test agent: Disk full" });
  expect((announced[0] as { body: string }).body.length).toBeLessThanOrEqual(500);
  feature.dispose();
});
