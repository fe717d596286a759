import "./usage.css";
import { show } from "../shared/page.tsx";
import { usageContract } from "./messages.ts";
import { UsageView } from "./view.tsx";

show(usageContract, UsageView);
