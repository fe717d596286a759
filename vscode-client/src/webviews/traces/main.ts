import "./traces.css";
import { show } from "../shared/page.tsx";
import { tracesContract } from "./messages.ts";
import { TracesView } from "./view.tsx";

show(tracesContract, TracesView);
