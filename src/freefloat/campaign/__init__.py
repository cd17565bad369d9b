"""Campaigns: many simulated flights, identified and compared with the truth, that survive anything.

Campaign (what varies, what is done, what is kept) -> RunRequest -> `perform` -> RunRow -> Store.
"""
