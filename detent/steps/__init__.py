"""Steps do the work. `protocol` says how; every other module here is one kind of step, or a part of one."""
