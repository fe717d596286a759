import "./base.css";
import { Component, render, type ComponentChildren, type FunctionComponent } from "preact";
import type { Contract } from "./channel.ts";
import { editor, type Editor } from "./editor.ts";
import { connect, type Host } from "./host.ts";
import { Notice } from "./notice.tsx";

export interface PageProps<C extends Contract> {
  readonly host: Host<C>;
  readonly editor: Pick<Editor, "kept" | "keep">;
}

/** Renders a view into its page. */
export function show<C extends Contract>(contract: C, View: FunctionComponent<PageProps<C>>): void {
  const page = editor();
  const host = connect(contract, page);
  render(
    <Guard>
      <View host={host} editor={page} />
    </Guard>,
    document.body,
  );
}

interface GuardState {
  readonly failure?: string;
}

/** An error in a view is shown inside the view and does not affect the rest of the editor. */
class Guard extends Component<{ readonly children?: ComponentChildren }, GuardState> {
  override componentDidCatch(error: unknown): void {
    this.setState({ failure: error instanceof Error ? error.message : String(error) });
  }
  override render(): ComponentChildren {
    const { failure } = this.state;
    if (failure === undefined) return this.props.children;
    return (
      <Notice kind="error" title="This view has a fault.">
        <p>{failure.slice(0, 500)}</p>
        <p class="quiet">Close and open it again; please report what it says.</p>
      </Notice>
    );
  }
}
