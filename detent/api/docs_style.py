"""How the page of the API looks, by day and by night."""

from typing import Final

STYLE: Final = """
:root { --ink: #1f2328; --paper: #fff; --panel: #f6f7f9; --edge: #e3e6ea; --blue: #0b62c4; --green: #137333;
  --amber: #9a5b00; --red: #b3261e; --violet: #6b3fa0 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --paper: #14171b; --panel: #1c2026; --edge: #2d333b;
  --soft: #98a1ac; --blue: #7ab7ff; --green: #6fd08c; --amber: #e8b45a; --red: #ff8f86; --violet: #c6a5f5 } }
html { scroll-behavior: smooth; scroll-padding-top: 1.5rem }
body { max-width: 78rem; margin: 0 auto; padding: 2.5rem 1.5rem 6rem; color: var(--ink); background: var(--paper) }
header { border-bottom: 1px solid var(--edge); padding-bottom: 1rem; margin-bottom: 1.5rem }
header h1 { font-size: 2rem; letter-spacing: -.02em } header p { margin: .4rem 0 }
.docs { display: grid; grid-template-columns: 17rem minmax(0, 1fr); gap: 3.5rem }
nav { position: sticky; top: 1.5rem; align-self: start; max-height: calc(100vh - 3rem); overflow-y: auto;
  font-size: .84rem; scrollbar-width: thin }
nav h4 { margin: 1.1rem 0 .3rem; text-transform: uppercase; letter-spacing: .06em; font-size: .72rem;
  color: var(--soft) }
nav h4:first-child { margin-top: 0 }
nav ul { list-style: none; margin: 0; padding: 0 }
nav a { display: flex; gap: .5rem; align-items: baseline; padding: .18rem .3rem; border-radius: .3rem; color: inherit;
  text-decoration: none }
nav a:hover { background: var(--panel) }
nav .verb { flex: none; width: 2.9rem; padding: 0; background: none; font-size: .66rem }
main h2 { font-size: 1.35rem; margin: 3rem 0 0; letter-spacing: -.01em } main h2:first-child { margin-top: 0 }
main > .soft { margin: .2rem 0 0 }
section { padding: 1.6rem 0 1.8rem; border-bottom: 1px solid var(--edge) }
section:target h3 { color: var(--blue) }
h3 { font-size: 1.05rem; margin: 0 0 .5rem } section p { margin: .55rem 0; max-width: 44rem }
h5 { margin: 1.2rem 0 .4rem; font-size: .72rem; text-transform: uppercase; letter-spacing: .06em; color: var(--soft) }
.place { display: flex; gap: .6rem; align-items: center; background: var(--panel); border: 1px solid var(--edge);
  border-radius: .45rem; padding: .45rem .6rem; max-width: none; overflow-x: auto }
.place code { font-size: .88rem; white-space: nowrap } em { font-style: normal; color: var(--violet) }
.also { font-size: .82rem; max-width: none } .also code { margin-right: .5rem; font-size: .78rem }
.verb { font: 700 .7rem ui-monospace, monospace; letter-spacing: .03em; padding: .15rem .4rem; border-radius: .3rem;
  background: color-mix(in srgb, currentColor 13%, transparent) }
.get { color: var(--blue) } .post { color: var(--green) } .put { color: var(--amber) } .delete { color: var(--red) }
section table { margin: .6rem 0; font-size: .88rem } section tr { border-color: var(--edge) }
td { vertical-align: top; padding: .4rem .8rem .4rem 0 } td:nth-child(3) { white-space: normal }
.parameters td:nth-child(3) { max-width: 9rem } .parameters td:last-child { width: 100% }
section code { background: var(--panel); border-radius: .25rem; padding: .05rem .25rem; font-size: .84em }
.place code, pre code { background: none; padding: 0 }
pre { background: var(--panel); border: 1px solid var(--edge); border-radius: .45rem; padding: .7rem .9rem;
  margin: .5rem 0;  max-height: 26rem; overflow: auto; font-size: .8rem; scrollbar-width: thin }
pre i { font-style: normal } .k { color: var(--blue) } .s { color: var(--green) } .n { color: var(--amber) }
details { margin: .35rem 0 } summary { cursor: pointer; font-size: .9rem } .line { font-size: .9rem; margin: .35rem 0 }
.status { font: 700 .78rem ui-monospace, monospace } .status.good { color: var(--green) }
.status.bad { color: var(--red) }
@media (max-width: 60rem) { .docs { display: block } nav { position: static; max-height: none; columns: 2 15rem;
  border-bottom: 1px solid var(--edge); padding-bottom: 1rem; margin-bottom: 2rem } }
@media (max-width: 40rem) { td, .parameters td:nth-child(3) { white-space: normal; max-width: none }
  .parameters tr { display: block; padding: .3rem 0 } .parameters td { display: inline-block; width: auto;
  padding: .1rem .5rem .1rem 0 } .parameters td:last-child { display: block; width: auto } }
"""
