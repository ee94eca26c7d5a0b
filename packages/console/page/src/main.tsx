import { render } from "preact";
import { App } from "./app.tsx";
import { applyTheme, storedTheme } from "./model/theme.ts";
import "./style.css";

applyTheme(storedTheme());
const root = document.getElementById("app");
if (root !== null) render(<App />, root);
