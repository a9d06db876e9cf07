"""One step each, numbered; a step that was released is never changed."""
