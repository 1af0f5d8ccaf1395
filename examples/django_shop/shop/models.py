"""The tables of the shop."""

from django.db import models


class Order(models.Model):
    """An order of one item."""

    item = models.CharField(max_length=100)
    status = models.CharField(max_length=20, default="new")
    run = models.CharField(max_length=40, blank=True)
