"""Document templates as steps use them: the action, and the processes that render."""
