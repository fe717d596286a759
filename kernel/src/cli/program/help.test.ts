import { expect, test } from "vitest";
import { FakeKernel, portsOf } from "../testing/fake-kernel.ts";
import { createProgram } from "./program.ts";

test("the help of the program and of lares new says that it makes minds too", () => {
  const program = createProgram(portsOf(new FakeKernel()));
  const helps = [program, program.commands.find((command) => command.name() === "new")];
  for (const help of helps)
    expect(help?.helpInformation().replaceAll(/\s+/g, " ")).toContain(
      "C, Go or Rust, or a mind without code",
    );
});

test("no line of a help's prose is wider than the others", () => {
  const widest = 130;
  const program = createProgram(portsOf(new FakeKernel()));
  for (const command of program.commands) {
    let help = "";
    command.configureOutput({ writeOut: (text) => (help += text), getOutHelpWidth: () => 80 });
    command.outputHelp();
    const wide = help.split("\n").filter((line) => line.length > widest && !/^Usage: | {2}# /.test(line));
    expect(wide, command.name()).toEqual([]);
  }
});
