import "./tool-form.css";
import { show } from "../shared/page.tsx";
import { toolFormContract } from "./messages.ts";
import { ToolFormView } from "./view.tsx";

show(toolFormContract, ToolFormView);
